package stages

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// withdrawAnnouncements takes back, before anything else changes, what this instance
// announced for a version that its spec does not ask for any more. Another instance would
// restart its process groups with all others, and they would come back in the old version,
// which the new one does not understand.
func withdrawAnnouncements(s plan.Snapshot, d plan.Decision) plan.Decision {
	for _, version := range slices.Sorted(maps.Keys(s.Coordination.Announced)) {
		if version == s.Cluster.Spec.Version && incompatibleUpgrade(s.Cluster) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(s.Coordination.Announced[version]), func(id v1beta2.ProcessGroupID) bool {
			return s.Cluster.ProcessGroup(id) == nil && !isOursAndGone(s, id)
		})
		if len(own) > 0 {
			d.Why = cmp.Or(d.Why, "the spec does not ask for version "+version+" any more")
			d.Actions = append([]plan.Action{plan.WithdrawUpgrade{Version: version, Groups: own}}, d.Actions...)
		}
	}
	return d
}
