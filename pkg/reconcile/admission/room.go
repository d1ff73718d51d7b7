package admission

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Room is what the quotas of a namespace have left while pods take the place of others.
type Room struct {
	Facts plan.NamespaceFacts
	// taken is what the pods so far add to each quota, by its name.
	taken map[string]corev1.ResourceList
}

// Shortage is a resource of a quota that has less left than is needed.
type Shortage struct {
	Quota    string
	Resource corev1.ResourceName
	// Needs is what is added, with what was taken before; Left is what the quota has left.
	Needs, Left string
}

// Replace takes what a pod adds to the quotas when it takes the place of another one, or returns what they lack. What
// is lacking is not taken.
func (r *Room) Replace(before, after *corev1.Pod) (lacks []Shortage) {
	after = Completed(r.Facts.Limits, after)
	next := map[string]corev1.ResourceList{}
	for _, q := range r.Facts.Quotas {
		more := Sum(r.taken[q.Name], Difference(UsageIn(q, after), UsageIn(q, before)))
		next[q.Name] = more
		for _, name := range LacksRoom(q, more) {
			of := corev1.ResourceName(name)
			needs, left := more[of], q.Status.Hard[of].DeepCopy()
			left.Sub(q.Status.Used[of])
			lacks = append(lacks, Shortage{Quota: q.Name, Resource: of, Needs: needs.String(), Left: left.String()})
		}
	}
	if len(lacks) == 0 {
		r.taken = next
	}
	return lacks
}

// Sum returns the amounts of both lists together.
func Sum(a, b corev1.ResourceList) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, list := range []corev1.ResourceList{a, b} {
		for name, n := range list {
			total := sum[name].DeepCopy()
			total.Add(n)
			sum[name] = total
		}
	}
	return sum
}

// Difference returns the amounts of the first list without those of the second; negative where that has more.
func Difference(a, b corev1.ResourceList) corev1.ResourceList {
	negative := corev1.ResourceList{}
	for name, n := range b {
		n = n.DeepCopy()
		n.Neg()
		negative[name] = n
	}
	return Sum(a, negative)
}

// Completed returns a copy of a pod with the requests and limits that the API server and the LimitRanges of the
// namespace set where it has none.
func Completed(limits []corev1.LimitRange, pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	items := []corev1.LimitRangeItem{{}}
	for _, l := range limits {
		for _, item := range l.Spec.Limits {
			if item.Type == corev1.LimitTypeContainer {
				items = append(items, item)
			}
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			for _, item := range items {
				r := &containers[i].Resources
				r.Requests, r.Limits = withDefaults(item, *r)
			}
		}
	}
	return pod
}
