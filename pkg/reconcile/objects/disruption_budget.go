package objects

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// DisruptionBudgetName is the name of the PodDisruptionBudget over the pods with data or
// coordination state, which the operator does not have.
func DisruptionBudgetName(c *v1beta2.FoundationDBCluster) string { return c.Name + "-stateful" }

// DisruptionBudget is the PodDisruptionBudget over all pods of a cluster with data or
// coordination state, of which minAvailable must stay ready.
//
// It is one budget for all classes and not one for each: a coordinator may be in any of them, and
// two budgets would allow the loss of two. It has a number of pods, and neither a percentage nor
// maxUnavailable: for these the disruption controller needs the scale of the pods' controller,
// which a FoundationDBCluster does not have, and allows no eviction at all. A pod that runs and is
// not ready may be evicted only while enough others are ready.
func DisruptionBudget(c *v1beta2.FoundationDBCluster, minAvailable int) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metadata(c, nil, DisruptionBudgetName(c), nil),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable:               new(intstr.FromInt32(int32(minAvailable))), //nolint:gosec // a number of pods
			Selector:                   disruptionSelector(c),
			UnhealthyPodEvictionPolicy: new(policyv1.IfHealthyBudget),
		},
	}
}

// disruptionSelector selects every class but those that hold nothing, so that one that is unknown
// here is protected as well.
func disruptionSelector(c *v1beta2.FoundationDBCluster) *metav1.LabelSelector {
	key := c.ProcessClassLabels()[0]
	var without []string
	for _, class := range v1beta2.ProcessClasses() {
		if !InDisruptionBudget(class) {
			without = append(without, string(class))
		}
	}
	return &metav1.LabelSelector{
		MatchLabels: c.MatchLabels(),
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: key, Operator: metav1.LabelSelectorOpExists},
			{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: without},
		},
	}
}

// InDisruptionBudget reports whether pods of a class are in the budget: they may have data or
// coordination state. An unknown class counts as one that has.
func InDisruptionBudget(class v1beta2.ProcessClass) bool {
	return class.IsStateful() || class == v1beta2.ProcessClassUnset || !class.IsKnown()
}
