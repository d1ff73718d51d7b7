package admission

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// beyond returns the names of the LimitRanges that do not allow the resources of an object.
func beyond(limits []corev1.LimitRange, o metav1.Object) (names []string) {
	for _, l := range limits {
		if slices.ContainsFunc(l.Spec.Limits, func(item corev1.LimitRangeItem) bool { return violates(item, o) }) {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	return names
}

func violates(item corev1.LimitRangeItem, o metav1.Object) bool {
	switch o := o.(type) {
	case *corev1.PersistentVolumeClaim:
		return item.Type == corev1.LimitTypePersistentVolumeClaim && outside(item, o.Spec.Resources.Requests, o.Spec.Resources.Requests)
	case *corev1.Pod:
		if item.Type == corev1.LimitTypePod {
			return outside(item, objects.PodRequests(o), podLimits(o))
		}
		return item.Type == corev1.LimitTypeContainer && slices.ContainsFunc(slices.Concat(o.Spec.Containers, o.Spec.InitContainers), func(c corev1.Container) bool {
			requests, allowed := withDefaults(item, c.Resources)
			return outside(item, requests, allowed)
		})
	default:
		return false
	}
}

// withDefaults returns the requests and limits of a container as the API server completes them.
func withDefaults(item corev1.LimitRangeItem, r corev1.ResourceRequirements) (requests, limits corev1.ResourceList) {
	requests, limits = corev1.ResourceList{}, corev1.ResourceList{}
	maps.Copy(limits, item.Default)
	for name, n := range r.Limits {
		limits[name], requests[name] = n, n
	}
	for name, n := range item.DefaultRequest {
		if _, set := requests[name]; !set {
			requests[name] = n
		}
	}
	maps.Copy(requests, r.Requests)
	return requests, limits
}

// outside reports whether requests are below the minimum, limits above the maximum, or their ratio too high. A
// value that the LimitRange bounds and the object does not set is outside as well.
func outside(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) bool {
	for name, least := range item.Min {
		if n, set := requests[name]; !set || n.Cmp(least) < 0 {
			return true
		}
	}
	for name, most := range item.Max {
		if n, set := limits[name]; !set || n.Cmp(most) > 0 {
			return true
		}
	}
	for name, ratio := range item.MaxLimitRequestRatio {
		if exceeds(limits[name], requests[name], ratio) {
			return true
		}
	}
	return false
}

func exceeds(limit, request, ratio resource.Quantity) bool {
	return request.IsZero() || limit.AsApproximateFloat64() > request.AsApproximateFloat64()*ratio.AsApproximateFloat64()
}
