package reconcile_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

var evictionProblems = []problem{
	{"a budget or tolerations are requested, or not any more", 3, func(h *history, dice *rand.Rand) {
		annotations := map[string]string{}
		for _, name := range []string{plan.AnnotationDisruptionBudgets, plan.AnnotationTolerations} {
			if dice.IntN(3) > 0 {
				annotations[name] = "true"
			}
		}
		h.w.Resource.Annotations = annotations
		h.logf("annotations: %v", annotations)
	}},
}

// requested reports whether the resource has an annotation that is true.
func requested(w *sim.Cluster, annotation string) bool {
	return w.Resource.Annotations[annotation] == "true"
}

// allowsTwoEvictions judges budgets as if all pods were ready, which is the most that they ever allow.
func allowsTwoEvictions(h *history, _ *deed) string {
	for _, w := range h.clusters {
		budget := w.DisruptionBudgets[objects.DisruptionBudgetName(w.Resource)]
		if budget == nil || !requested(w, plan.AnnotationDisruptionBudgets) {
			continue
		}
		if pods, stay := selectedPods(h.t, w, budget), budget.Spec.MinAvailable.IntValue(); pods-stay > 1 {
			return fmt.Sprintf("%s allows the eviction of %d of %d pods", budget.Name, pods-stay, pods)
		}
	}
	return ""
}

// endsWithoutBudget judges clusters that are reconciled.
func endsWithoutBudget(h *history, _ *deed) string {
	for _, w := range h.clusters {
		budget := w.DisruptionBudgets[objects.DisruptionBudgetName(w.Resource)]
		if want := requested(w, plan.AnnotationDisruptionBudgets); h.settling && want != (budget != nil) {
			return fmt.Sprintf("requested: %t, there: %t", want, budget != nil)
		}
	}
	return ""
}
