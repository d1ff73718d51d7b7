package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// addPVCs creates the volume claim of every stateful process group that has none.
// A group that is marked for removal but not yet excluded gets its claim back:
// without a process its data could never move away.
var addPVCs = plan.Stage{
	Name:  plan.StageAddPVCs,
	Reads: plan.Record | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		for _, g := range s.Groups() {
			if !g.ProcessClass.IsStateful() || g.IsGone() || s.Volumes[g.PVCName(s.Cluster)] != nil {
				continue
			}
			want, err := objects.PersistentVolumeClaim(s.Cluster, g)
			if err != nil {
				return contradiction(err)
			}
			d.Actions = append(d.Actions, plan.CreatePVC{Group: g.ProcessGroupID, Name: want.Name, Object: want})
		}
		if len(d.Actions) > 0 {
			d.Why = "stateful process groups keep their data on them"
		}
		return d
	},
}
