package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// UseOf returns what the database of a snapshot uses, by its status document and the spec.
// Snapshots of a cluster do not have its backups, which are unknown.
func UseOf(s plan.Snapshot) versionfacts.Use {
	return versionfacts.Use{Status: s.Database.Status, Desired: objects.DesiredConfiguration(s.Cluster)}
}

// VersionChange checks a change of the version against the known facts. Each fact by which
// data or availability is lost, or may be, is a check that refuses; without one the result is
// empty. Facts are unknown while the database does not report what it uses.
func VersionChange(s plan.Snapshot, from, to fdb.Version) []plan.Check {
	return FactChecks(versionfacts.OfChange(from, to, UseOf(s)), versionfacts.Consequence.LosesDatabase)
}

// FactChecks returns a check that refuses for each fact with such a consequence.
func FactChecks(facts []versionfacts.Applying, refuses func(versionfacts.Consequence) bool) []plan.Check {
	var checks []plan.Check
	for _, f := range facts {
		if refuses(f.Consequence) {
			checks = append(checks, factCheck(f))
		}
	}
	return checks
}

func factCheck(f versionfacts.Applying) plan.Check {
	c := plan.Check{
		ID: plan.CheckVersionFact, Subject: f.ID, Gate: plan.GateConfig,
		Question: fmt.Sprintf("is the change from %s to %s safe for this database?", f.From, f.Version),
		Evidence: fmt.Sprintf("%s (%s)", f.Summary, f.Sources[0]),
	}
	if f.Applies == versionfacts.Unknown {
		c.Have = phrase.Unknown
		c.Evidence = fmt.Sprintf("cannot determine whether the database uses %s, which decides: %s", f.Condition, c.Evidence)
	}
	return c
}
