package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// AddServices creates the headless service that gives pods their DNS names, and one service
// per process group where the spec takes public addresses from services.
var AddServices = plan.Stage{
	Name:  plan.StageAddServices,
	Reads: plan.ClusterResource | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		for _, want := range desiredServices(s) {
			if a, needed := serviceAction(s.Services[want.Name], want); needed {
				d.Actions = append(d.Actions, a)
			}
		}
		if len(d.Actions) > 0 {
			d.Why = "services are missing or differ from the spec"
		}
		return d
	},
}

// desiredService is a service that the spec requires; group is empty for the headless one.
type desiredService struct {
	group v1beta2.ProcessGroupID
	*corev1.Service
}

func desiredServices(s plan.Snapshot) []desiredService {
	var desired []desiredService
	if headless := objects.HeadlessService(s.Cluster); headless != nil {
		desired = append(desired, desiredService{"", headless})
	}
	for _, g := range s.Groups() {
		if g.IsRemovable() {
			continue
		}
		if service := objects.GroupService(s.Cluster, g); service != nil {
			desired = append(desired, desiredService{g.ProcessGroupID, service})
		}
	}
	return desired
}

// serviceAction returns the action that reconciles a service. An IP family is immutable, so
// a service of another family is replaced.
func serviceAction(have *corev1.Service, want desiredService) (plan.Action, bool) {
	if have == nil {
		return plan.ApplyService{Group: want.group, Name: want.Name, Object: want.Service, Verb: plan.CreateService}, true
	}
	if len(want.Spec.IPFamilies) > 0 && (len(have.Spec.IPFamilies) == 0 || have.Spec.IPFamilies[0] != want.Spec.IPFamilies[0]) {
		return plan.ApplyService{Group: want.group, Name: want.Name, Object: want.Service, Verb: plan.ReplaceService}, true
	}
	merged := have.DeepCopy()
	changed := readings.MergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
	if !maps.Equal(have.Spec.Selector, want.Spec.Selector) {
		merged.Spec.Selector = want.Spec.Selector
		changed = true
	}
	if !samePorts(have.Spec.Ports, want.Spec.Ports) {
		merged.Spec.Ports = want.Spec.Ports
		changed = true
	}
	return plan.ApplyService{Group: want.group, Name: want.Name, Object: merged, Verb: plan.UpdateService}, changed
}

// samePorts compares only the fields that this tool sets; the API server defaults the others.
func samePorts(have, want []corev1.ServicePort) bool {
	return slices.EqualFunc(have, want, func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Port == b.Port
	})
}
