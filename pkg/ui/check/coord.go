package check

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// coordinators are the rules about those who know where the database is.
func coordinators() []Rule {
	return []Rule{
		{
			Code: "COORD-001", Severity: Critical, Title: "A quorum of coordinators answers", needs: databaseWord,
			Why: "Without most of its coordinators the database stops.",
			find: func(f Facts) ([]Finding, string) {
				if f.Database.Status.Client.Coordinators.QuorumReachable {
					return nil, ""
				}
				return with(one(database, "there is no quorum of coordinators", f.fix("status")...))
			},
		},
		{
			Code: "COORD-002", Severity: Error, Title: "Every coordinator answers", needs: databaseWord,
			Why:  "Those that are left have less to spare. A pass replaces one that stays away.",
			find: silentCoordinators,
		},
		{
			Code: "COORD-003", Severity: Warning, Title: "The coordinators are as the spec wants them", needs: serving,
			Why: "Their number, their fault domains, their classes or their addresses are not as they should be; a pass changes them.",
			find: func(f Facts) ([]Finding, string) {
				var found []Finding
				for _, problem := range safety.JudgeCoordinators(f.Snapshot).Problems {
					found = append(found, one(database, problem, f.fix("plan")...)...)
				}
				return found, ""
			},
		},
		{
			Code: "COORD-004", Severity: Error, Title: "No coordinator is on a process group that leaves", needs: serving,
			Why:  "A group that is removed takes its part of the quorum along, unless coordinators move first. A pass does that.",
			find: leavingCoordinators,
		},
	}
}

func silentCoordinators(f Facts) ([]Finding, string) {
	finding := Finding{Message: "the coordinator does not answer", Fix: f.fix("status")}
	for _, c := range f.Database.Status.Client.Coordinators.Coordinators {
		if !c.Reachable {
			finding.Subjects = append(finding.Subjects, "coordinator/"+c.Address.String())
		}
	}
	return finding.some(), ""
}

// some is the finding, if it is about anything.
func (g Finding) some() []Finding {
	if len(g.Subjects) == 0 {
		return nil
	}
	return []Finding{g}
}

func leavingCoordinators(f Facts) ([]Finding, string) {
	finding := Finding{Message: "is a coordinator and marked for removal", Fix: f.fix("reconcile")}
	for _, g := range f.Groups() {
		if g.IsMarkedForRemoval() && safety.Coordinates(f.Snapshot, g) {
			finding.Subjects = append(finding.Subjects, group(g.ProcessGroupID))
			finding.began(g.RemovalTimestamp.Time)
		}
	}
	return finding.some(), ""
}
