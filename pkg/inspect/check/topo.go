package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// topology returns the rules about the number of processes and their fault domains.
func topology() []Rule {
	return []Rule{
		{
			Code: "TOPO-001", Severity: Error, Title: "Processes report from enough fault domains", Needs: findings.NeedsProcessList,
			Why: "The redundancy mode needs more zones or data halls than there are. FoundationDB accepts such a configuration and waits forever.",
			Find: func(f Facts) ([]Finding, string) {
				return with(f.refused(safety.CanHold(f.Database, f.Desired)))
			},
		},
		{
			Code: "TOPO-002", Severity: Warning, Title: "Each class has the desired number of process groups",
			Why:  "The next pass adds the missing ones.",
			Find: fewGroups,
		},
		{
			Code: "TOPO-003", Severity: Warning, Title: "Packed pods are in the fault domain of their distribution key", Severe: requiresDistribution,
			Why:  "A fault domain may have been full, or pods are still being replaced. The loss of a fault domain, or its maintenance, then affects more than one bucket.",
			Find: misplaced,
		},
	}
}

// requiresDistribution reports whether misplaced pods are errors: the scheduler would not place them so.
func requiresDistribution(f Facts) bool { return distribution.Of(f.Cluster).Required() }

func misplaced(f Facts) ([]Finding, string) {
	use := f.Distribution()
	if use == nil {
		return nil, ""
	}
	found, where := []Finding{}, use.Misplaced()
	for _, subject := range slices.Sorted(maps.Keys(where)) {
		found = append(found, one(subject, where[subject], f.listGroups("-o", "wide")...)...)
	}
	return found, ""
}

func fewGroups(f Facts) ([]Finding, string) {
	var found []Finding
	for _, c := range f.Status.ProcessGroups.Classes {
		if c.Current < c.Desired {
			found = append(found, one("class/"+c.Class, fmt.Sprintf("%s, %d desired", phrase.Count(c.Current, "process group"), c.Desired), f.fix("plan")...)...)
		}
	}
	return found, ""
}
