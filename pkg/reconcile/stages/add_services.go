package stages

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// addServices creates the headless service that gives pods their DNS names, and
// one service per process group where the spec takes public addresses from services.
var addServices = plan.Stage{
	Name:  plan.StageAddServices,
	Reads: plan.Record | plan.Services,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		for _, want := range wantedServices(s) {
			if a, needed := serviceAction(s.Services[want.Name], want); needed {
				d.Actions = append(d.Actions, a)
			}
		}
		if len(d.Actions) > 0 {
			d.Why = "pods are reached through them"
		}
		return d
	},
}

// wantedService is a service that should be there; group is empty for the headless one.
type wantedService struct {
	group v1beta2.ProcessGroupID
	*corev1.Service
}

func wantedServices(s plan.Snapshot) []wantedService {
	var wanted []wantedService
	if headless := objects.HeadlessService(s.Cluster); headless != nil {
		wanted = append(wanted, wantedService{"", headless})
	}
	for _, g := range s.Groups() {
		if g.IsGone() {
			continue
		}
		if service := objects.GroupService(s.Cluster, g); service != nil {
			wanted = append(wanted, wantedService{g.ProcessGroupID, service})
		}
	}
	return wanted
}

// serviceAction brings a service to what it should be. An IP family never
// changes in place, so a service of the wrong family is replaced.
func serviceAction(have *corev1.Service, want wantedService) (plan.Action, bool) {
	if have == nil {
		return plan.ApplyService{Group: want.group, Name: want.Name, Object: want.Service, Verb: plan.CreateService}, true
	}
	if len(want.Spec.IPFamilies) > 0 && (len(have.Spec.IPFamilies) == 0 || have.Spec.IPFamilies[0] != want.Spec.IPFamilies[0]) {
		return plan.ApplyService{Group: want.group, Name: want.Name, Object: want.Service, Verb: plan.ReplaceService}, true
	}
	merged := have.DeepCopy()
	changed := mergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
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

// samePorts compares what we set of a port; the API server fills in the rest.
func samePorts(have, want []corev1.ServicePort) bool {
	return slices.EqualFunc(have, want, func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Port == b.Port
	})
}
