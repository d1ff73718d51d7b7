package status

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// unreconciled describes what keeps the cluster from being reconciled, one short sentence each. It
// is empty for a reconciled cluster.
func unreconciled(s plan.Snapshot) []string {
	gaps := Gaps(s)
	left := gaps.Reasons
	if !s.Cluster.Status.Configured {
		left = append(left, groupsLeft(s.Groups())...)
	}
	if why := s.Database.Why(); why != "" && len(left) > 0 {
		left = append(left, "the state of the database is unknown: "+why)
	}
	return left
}

// groupsLeft counts groups by condition: "5 process groups with MissingProcesses".
func groupsLeft(groups []*v1beta2.ProcessGroupStatus) []string {
	counts := map[v1beta2.ProcessGroupConditionType]int{}
	for _, g := range groups {
		for _, c := range g.ProcessGroupConditions {
			if !c.Type.IsInformational() {
				counts[c.Type]++
			}
		}
	}
	var left []string
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		left = append(left, phrase.Count(counts[t], "process group")+" with "+string(t))
	}
	return left
}
