package readings

import (
	"fmt"
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// OwnDisruptionBudget returns the PodDisruptionBudget that passes keep for the cluster; nil where
// there is none, or another client created one of that name.
func OwnDisruptionBudget(s plan.Snapshot) *policyv1.PodDisruptionBudget {
	budget := s.DisruptionBudgets[objects.DisruptionBudgetName(s.Cluster)]
	if budget == nil || s.Cluster.UID == "" || !metav1.IsControlledBy(budget, s.Cluster) {
		return nil
	}
	return budget
}

// PodsInDisruptionBudget counts the pods that the budget covers: those that exist and those that
// process groups still get. All of them count, drained ones too: an eviction that a drained pod
// made room for could take any other. The error is that of a spec whose labels are invalid.
func PodsInDisruptionBudget(s plan.Snapshot) (int, error) {
	selected, err := inDisruptionBudget(s)
	if err != nil {
		return 0, err
	}
	names := map[string]bool{}
	for name, pod := range s.Pods {
		if selected(pod.Labels) {
			names[name] = true
		}
	}
	for _, g := range s.Groups() {
		if !g.IsRemovable() && objects.InDisruptionBudget(g.ProcessClass) {
			names[g.PodName(s.Cluster)] = true
		}
	}
	return len(names), nil
}

// ConflictingDisruptionBudgets returns the names of other budgets that select a pod of the
// cluster's. Kubernetes supports one budget per pod, and refuses every eviction of one with two.
func ConflictingDisruptionBudgets(s plan.Snapshot) ([]string, error) {
	ours, err := inDisruptionBudget(s)
	if err != nil {
		return nil, err
	}
	own := OwnDisruptionBudget(s)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.DisruptionBudgets)) {
		budget := s.DisruptionBudgets[name]
		if budget == own {
			continue
		}
		theirs, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			continue // as for Kubernetes it selects nothing
		}
		if name == objects.DisruptionBudgetName(s.Cluster) || selectsBoth(s, ours, func(of map[string]string) bool { return theirs.Matches(labels.Set(of)) }) {
			names = append(names, name)
		}
	}
	return names, nil
}

func selectsBoth(s plan.Snapshot, a, b func(map[string]string) bool) bool {
	for _, pod := range s.Pods {
		if a(pod.Labels) && b(pod.Labels) {
			return true
		}
	}
	return false
}

// inDisruptionBudget returns whether the budget selects a pod with labels.
func inDisruptionBudget(s plan.Snapshot) (func(map[string]string) bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(objects.DisruptionBudget(s.Cluster, 0).Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("select the pods of the PodDisruptionBudget: %w", err)
	}
	return func(of map[string]string) bool { return selector.Matches(labels.Set(of)) }, nil
}
