package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Unschedulable is the fault of a pod that only specially labeled nodes take. No
// container has a name like it.
const Unschedulable = "*"

// Faults are the faults that a pod was created with, in a form to compare: the names of the
// containers that crash, sorted, and one word for a pod that hardly any node accepts.
func Faults(spec *corev1.PodSpec) []string {
	var faults []string
	for c := range containers(spec) {
		if CrashLoops(c) {
			faults = append(faults, c.Name)
		}
	}
	if refusesNodes(spec) {
		faults = append(faults, Unschedulable)
	}
	slices.Sort(faults)
	return faults
}

func refusesNodes(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	return slices.ContainsFunc(required.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == v1beta2.LabelNoScheduleAllowed
		})
	})
}
