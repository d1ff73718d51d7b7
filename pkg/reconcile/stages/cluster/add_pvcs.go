package cluster

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// AddPVCs creates the PVC of every stateful process group without one, also of a group that
// is marked for removal but not yet excluded: without a process its data cannot be moved.
var AddPVCs = plan.Stage{
	Name:  plan.StageAddPVCs,
	Reads: plan.ClusterResource | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		for _, g := range s.Groups() {
			if !g.ProcessClass.IsStateful() || g.IsRemovable() || s.Volumes[g.PVCName(s.Cluster)] != nil {
				continue
			}
			want, err := objects.PersistentVolumeClaim(s.Cluster, g)
			if err != nil {
				return readings.InvalidSpec(err)
			}
			d.Actions = append(d.Actions, plan.CreatePVC{Group: g.ProcessGroupID, Name: want.Name, Object: want})
		}
		if len(d.Actions) > 0 {
			d.Why = "stateful process groups without a PVC"
		}
		return d
	},
}
