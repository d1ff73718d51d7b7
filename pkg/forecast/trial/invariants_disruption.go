package trial

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// requested reports whether the resource has an annotation that is true.
func requested(w *sim.Cluster, annotation string) bool {
	return w.Resource.Annotations[annotation] == "true"
}

// allowsTwoEvictions judges budgets as if all pods were ready, which is the most that they ever allow.
func allowsTwoEvictions(h *History, _ *deed) string {
	for _, w := range h.clusters {
		budget := w.DisruptionBudgets[objects.DisruptionBudgetName(w.Resource)]
		if budget == nil || !requested(w, plan.AnnotationDisruptionBudgets) {
			continue
		}
		pods, err := SelectedPods(w, budget)
		if err != nil {
			return err.Error()
		}
		if stay := budget.Spec.MinAvailable.IntValue(); pods-stay > 1 {
			return fmt.Sprintf("%s allows to evict %d of %d", budget.Name, pods-stay, pods)
		}
	}
	return ""
}

// endsWithoutBudget judges clusters that are reconciled.
func endsWithoutBudget(h *History, _ *deed) string {
	for _, w := range h.clusters {
		budget := w.DisruptionBudgets[objects.DisruptionBudgetName(w.Resource)]
		if want := requested(w, plan.AnnotationDisruptionBudgets); h.settling && want != (budget != nil) {
			return fmt.Sprintf("requested: %t, there: %t", want, budget != nil)
		}
	}
	return ""
}

// SelectedPods is how many pods a disruption budget covers.
func SelectedPods(w *sim.Cluster, budget *policyv1.PodDisruptionBudget) (int, error) {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		return 0, fmt.Errorf("reading the selector of %s: %w", budget.Name, err)
	}
	n := 0
	for _, pod := range w.Pods {
		if selector.Matches(labels.Set(pod.Labels)) {
			n++
		}
	}
	return n, nil
}
