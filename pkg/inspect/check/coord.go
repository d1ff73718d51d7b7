package check

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// coordinators returns the rules about the coordinators of the database.
func coordinators() []Rule {
	return append(rulesOf(inspect.CoordinatorRules()), []Rule{
		{
			Code: "COORD-003", Severity: Warning, Title: "The coordinators match the spec", Needs: findings.NeedsAvailableDatabase,
			Why: "Their number, fault domains, classes or addresses differ from the spec; a pass changes them.",
			Find: func(f Facts) ([]Finding, string) {
				var found []Finding
				for _, problem := range safety.JudgeCoordinators(f.Snapshot).Problems {
					found = append(found, one(database, problem, f.fix("plan")...)...)
				}
				return found, ""
			},
		},
		{
			Code: "COORD-004", Severity: Error, Title: "No coordinator is marked for removal", Needs: findings.NeedsAvailableDatabase,
			Why:  "Removing its process group removes one vote of the quorum, unless coordinators change first. A pass does that.",
			Find: removedCoordinators,
		},
		{
			Code: "COORD-005", Severity: Warning, Title: "No data center of several has a majority of the coordinators", Needs: findings.NeedsAvailableDatabase,
			Why:  "The loss of that data center makes the database unavailable, whatever the others hold. With two data centers one of them always has a majority; a third one, for example a satellite, avoids it.",
			Find: coordinatorMajority,
		},
	}...)
}

// coordinatorMajority finds coordinators of a database in several regions that do not survive the
// loss of a data center. Without a quorum COORD-001 reports more.
func coordinatorMajority(f Facts) ([]Finding, string) {
	if safety.CoordinatorSite(f.Cluster) != fdb.LocalityDCID || safety.JudgeCoordinators(f.Snapshot).Tolerance.Sites != 0 {
		return nil, ""
	}
	all := len(f.Database.Status.Coordinators())
	return with(one(database, fmt.Sprintf("the loss of one data center leaves no quorum of the %s", phrase.Count(all, "coordinator")), "fdb", "get", "coordinators", f.Cluster.Name))
}

func removedCoordinators(f Facts) ([]Finding, string) {
	finding := Finding{Message: "is a coordinator and marked for removal", Fix: f.fix("reconcile")}
	for _, g := range f.Groups() {
		if g.IsMarkedForRemoval() && safety.Coordinates(f.Snapshot, g) {
			finding.Subjects = append(finding.Subjects, findings.ProcessGroup(g.ProcessGroupID))
			finding.Began(g.RemovalTimestamp.Time)
		}
	}
	return finding.IfAny(), ""
}
