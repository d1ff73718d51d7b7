package stages

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// addServices creates the headless service that gives pods their DNS names, and
// one service per process group where the spec takes public addresses from services.
var addServices = plan.Stage{
	Name:  "AddServices",
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

func wantedServices(s plan.Snapshot) []*corev1.Service {
	var wanted []*corev1.Service
	if headless := objects.HeadlessService(s.Cluster); headless != nil {
		wanted = append(wanted, headless)
	}
	for _, g := range s.Groups() {
		if g.IsGone() {
			continue
		}
		if service := objects.GroupService(s.Cluster, g); service != nil {
			wanted = append(wanted, service)
		}
	}
	return wanted
}

// serviceAction brings a service to what it should be. An IP family never
// changes in place, so a service of the wrong family is replaced.
func serviceAction(have, want *corev1.Service) (plan.Action, bool) {
	if have == nil {
		return plan.ApplyService{Name: want.Name, Object: want, Verb: plan.CreateService}, true
	}
	if len(want.Spec.IPFamilies) > 0 && (len(have.Spec.IPFamilies) == 0 || have.Spec.IPFamilies[0] != want.Spec.IPFamilies[0]) {
		return plan.ApplyService{Name: want.Name, Object: want, Verb: plan.ReplaceService}, true
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
	return plan.ApplyService{Name: want.Name, Object: merged, Verb: plan.UpdateService}, changed
}

// samePorts compares what we set of a port; the API server fills in the rest.
func samePorts(have, want []corev1.ServicePort) bool {
	return slices.EqualFunc(have, want, func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Port == b.Port
	})
}
