package readings

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// AppliedTolerations returns the action that gives a running pod the desired tolerations for lost
// nodes; nil where it has them. A taint that the user's template tolerates is left to it, and so is
// one that something else made the pod tolerate in another form.
func AppliedTolerations(group v1beta2.ProcessGroupID, pod *corev1.Pod, template *corev1.PodTemplateSpec, want []corev1.Toleration) plan.Action {
	before, _ := plan.TolerationsBefore(pod)
	a := plan.SetTolerations{Group: group, Name: pod.Name, UID: pod.UID, Observed: pod, Seconds: map[string]*int64{}, Before: map[string]*int64{}}
	maps.Copy(a.Before, before)
	for _, w := range want {
		if template != nil && tolerated(template.Spec.Tolerations, w.Key) {
			continue
		}
		have := slices.IndexFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return plan.LostNodeToleration(t, w.Key) })
		switch {
		case have < 0 && tolerated(pod.Spec.Tolerations, w.Key):
			continue
		case have >= 0 && ptr.Equal(pod.Spec.Tolerations[have].TolerationSeconds, w.TolerationSeconds):
			continue
		}
		if _, recorded := before[w.Key]; !recorded {
			a.Before[w.Key] = new(int64) // no toleration at all is none for any second
			if have >= 0 {
				a.Before[w.Key] = pod.Spec.Tolerations[have].TolerationSeconds
			}
		}
		a.Seconds[w.Key] = w.TolerationSeconds
	}
	if len(a.Seconds) == 0 {
		return nil
	}
	return a
}

// RevertedTolerations returns the action that gives a pod the tolerations back that it had before
// AppliedTolerations; nil where nothing was changed.
func RevertedTolerations(group v1beta2.ProcessGroupID, pod *corev1.Pod) plan.Action {
	before, changed := plan.TolerationsBefore(pod)
	if !changed {
		return nil
	}
	return plan.SetTolerations{Group: group, Name: pod.Name, UID: pod.UID, Observed: pod, Seconds: before}
}

func tolerated(tolerations []corev1.Toleration, key string) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return plan.Tolerates(t, key) })
}

// MayChangeTolerations reports whether a pod still runs, so that its tolerations matter.
func MayChangeTolerations(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && !HasEnded(pod)
}

// AgentsOn returns the pods of backup agents on nodes that run, by name.
func AgentsOn(s plan.Snapshot, nodes []string) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range s.Agents.Pods {
		if slices.Contains(nodes, pod.Spec.NodeName) && MayChangeTolerations(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}
