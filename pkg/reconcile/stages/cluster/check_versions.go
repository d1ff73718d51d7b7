package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// judgeVersions ends a pass whose change of the version is known to lose data or availability.
// While it is unknown whether the database uses what decides that, a change does not begin; one
// that has begun continues, since a database that is down may need the pods that later stages
// create.
func judgeVersions(s plan.Snapshot, running, target fdb.Version) plan.Decision {
	d := plan.Decision{Checks: safety.VersionChange(s, running, target)}
	facts := versionfacts.OfChange(running, target, safety.UseOf(s))
	facts = slices.DeleteFunc(facts, func(f versionfacts.Applying) bool { return !f.Consequence.LosesDatabase() })
	certain := slices.DeleteFunc(slices.Clone(facts), func(f versionfacts.Applying) bool { return f.Applies != versionfacts.Yes })
	switch {
	case len(certain) > 0:
		d.Hold = &plan.Hold{Code: plan.HoldVersionUnsafe, Manual: true, Reason: fmt.Sprintf(
			"the change from %s to %s is unsafe for this database: %s; set spec.version to another version, or set spec.ignoreUpgradabilityChecks",
			running, target, inFactWords(certain))}
		return endPass(d, 0)
	case len(facts) > 0 && !changeHasBegun(s, target):
		d.Hold = &plan.Hold{Code: plan.HoldConfigurationUnknown, Reason: fmt.Sprintf(
			"cannot determine whether the change from %s to %s is safe: the database does not report whether it uses %s; to continue before, set spec.version to %s or set spec.ignoreUpgradabilityChecks",
			running, target, facts[0].Condition, running)}
		return endPass(d, plan.PodDelay)
	}
	return d
}

// inFactWords joins facts with their advice and first sources.
func inFactWords(facts []versionfacts.Applying) string {
	clauses := make([]string, len(facts))
	for i, f := range facts {
		clauses[i] = fmt.Sprintf("%s (%s, %s): %s", f.Summary, f.ID, f.Sources[0], f.Advice)
	}
	return strings.Join(clauses, "; ")
}

// changeHasBegun reports whether any pod already has the new version, in its sidecar or in its
// main container.
func changeHasBegun(s plan.Snapshot, target fdb.Version) bool {
	return upgradeHasBegun(s) || slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		pod := s.Pod(g)
		return pod != nil && readings.MainVersion(pod) == target
	})
}
