package cluster

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// UpdateConfigMap reconciles the ConfigMap that every pod mounts: the cluster file and one monitor
// configuration per process class. Other labels and annotations on it stay.
var UpdateConfigMap = plan.Stage{
	Name:  plan.StageUpdateConfigMap,
	Reads: plan.ClusterResource | plan.ConfigMap | plan.Pods | plan.Volumes | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		if lost := readings.LostDatabase(s); lost != nil {
			return plan.Decision{Hold: lost} // the ConfigMap may have the last copy of the cluster file
		}
		want, err := objects.ConfigMap(s.Cluster)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		if s.ConfigMap == nil {
			return plan.Decision{
				Why:     "pods mount it and it does not exist",
				Actions: []plan.Action{plan.ApplyConfigMap{Name: want.Name, Object: want, Create: true}},
			}
		}
		merged := s.ConfigMap.DeepCopy()
		merged.Data = want.Data
		relabeled := readings.MergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
		keys := readings.DifferingKeys(s.ConfigMap, want)
		if len(keys) == 0 && !relabeled {
			return plan.Decision{}
		}
		return plan.Decision{
			Why:     "it differs from the spec and the status",
			Actions: []plan.Action{plan.ApplyConfigMap{Name: want.Name, Keys: keys, Object: merged}},
		}
	},
}
