package status

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// withdrawAnnouncements withdraws, before any other change, what this control-plane instance
// announced for a version that is not in its spec any more. Another control-plane instance would
// restart its process groups with all others, and they would start in the old version, which is
// incompatible with the new one.
func withdrawAnnouncements(s plan.Snapshot, d plan.Decision) plan.Decision {
	for _, version := range slices.Sorted(maps.Keys(s.Coordination.Announced)) {
		if version == s.Cluster.Spec.Version && readings.IncompatibleUpgrade(s.Cluster) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(s.Coordination.Announced[version]), func(id v1beta2.ProcessGroupID) bool {
			return s.Cluster.ProcessGroup(id) == nil && !readings.IsOwnAndRemoved(s, id)
		})
		if len(own) > 0 {
			d.Why = cmp.Or(d.Why, "version "+version+" is not in the spec any more")
			d.Actions = append([]plan.Action{plan.WithdrawUpgrade{Version: version, Groups: own}}, d.Actions...)
		}
	}
	return d
}
