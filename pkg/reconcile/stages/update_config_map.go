package stages

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// updateConfigMap reconciles the ConfigMap that every pod mounts: the cluster file and one monitor
// configuration per process class. Other labels and annotations on it stay.
var updateConfigMap = plan.Stage{
	Name:  plan.StageUpdateConfigMap,
	Reads: plan.Record | plan.ConfigMap | plan.Pods | plan.Volumes | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		if lost := lostDatabase(s); lost != nil {
			return plan.Decision{Hold: lost} // the ConfigMap may have the last copy of the cluster file
		}
		want, err := objects.ConfigMap(s.Cluster)
		if err != nil {
			return invalidSpec(err)
		}
		if s.ConfigMap == nil {
			return plan.Decision{
				Why:     "pods mount it and it does not exist",
				Actions: []plan.Action{plan.ApplyConfigMap{Name: want.Name, Object: want, Create: true}},
			}
		}
		merged := s.ConfigMap.DeepCopy()
		merged.Data = want.Data
		relabeled := mergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
		keys := differingKeys(s.ConfigMap, want)
		if len(keys) == 0 && !relabeled {
			return plan.Decision{}
		}
		return plan.Decision{
			Why:     "it differs from the spec and the status",
			Actions: []plan.Action{plan.ApplyConfigMap{Name: want.Name, Keys: keys, Object: merged}},
		}
	},
}

// differingKeys returns the sorted data keys in which two ConfigMaps differ.
func differingKeys(have, want *corev1.ConfigMap) []string {
	if maps.Equal(have.Data, want.Data) && reflect.DeepEqual(have.BinaryData, want.BinaryData) {
		return nil
	}
	differs := map[string]bool{}
	for key, value := range want.Data {
		if old, ok := have.Data[key]; !ok || old != value {
			differs[key] = true
		}
	}
	for key := range have.Data {
		if _, ok := want.Data[key]; !ok {
			differs[key] = true
		}
	}
	return slices.Sorted(maps.Keys(differs))
}

// invalidSpec returns the decision of a stage that cannot reconcile the spec: only a change of the
// spec can resolve it.
func invalidSpec(err error) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldSpecContradiction, Reason: "invalid spec: " + err.Error(), Human: true}}
}
