package readings

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// InvalidPods returns why the pods with a value that cannot be used are left alone, in the order of the process groups. What is
// known of all other pods stays known.
func InvalidPods(s plan.Snapshot) *Waits {
	var w Waits
	for _, g := range s.Groups() {
		if pod := s.Pod(g); pod != nil {
			if err := objects.ValidatePod(pod, g.ProcessClass); err != nil {
				w.Add(g.ProcessGroupID, "%s", err)
			}
		}
	}
	return &w
}

// podInvalid ends the inspection of a pod with a value that cannot be used: how it was started is unknown, so that nothing shows that it
// differs from the spec.
func podInvalid(_ Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	return "", objects.ValidatePod(pod, g.ProcessClass)
}
