package admission

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// requestsPrefix begins the names of what a quota counts of requests, as limitsPrefix those of limits.
const (
	requestsPrefix = "requests."
	limitsPrefix   = "limits."
	countPrefix    = "count/"
	ofStorageClass = ".storageclass.storage.k8s.io/"
)

// Usage returns what an object adds to the ResourceQuotas of its namespace, by the names that quotas use.
func Usage(o metav1.Object) corev1.ResourceList {
	switch o := o.(type) {
	case *corev1.Pod:
		return podUsage(o)
	case *corev1.PersistentVolumeClaim:
		return claimUsage(o)
	case *corev1.Service:
		used := counted("services")
		if o.Spec.Type == corev1.ServiceTypeLoadBalancer {
			used[corev1.ResourceServicesLoadBalancers] = one()
		}
		return used
	case *corev1.ConfigMap:
		return counted("configmaps")
	case *appsv1.Deployment:
		return counted("deployments.apps")
	case *batchv1.CronJob:
		return counted("cronjobs.batch")
	case *policyv1.PodDisruptionBudget:
		return counted("poddisruptionbudgets.policy")
	default:
		return corev1.ResourceList{}
	}
}

func one() resource.Quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

// counted is one object of a kind, by both names that quotas have for it.
func counted(kind string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(kind): one(), corev1.ResourceName(countPrefix + kind): one()}
}

func podUsage(pod *corev1.Pod) corev1.ResourceList {
	used := counted("pods")
	for name, n := range objects.PodRequests(pod) {
		used[name], used[requestsPrefix+name] = n, n
	}
	for name, n := range podLimits(pod) {
		used[limitsPrefix+name] = n
	}
	return used
}

// podLimits are the limits of a pod, added as its requests are.
func podLimits(pod *corev1.Pod) corev1.ResourceList {
	limited := pod.DeepCopy()
	for _, containers := range [][]corev1.Container{limited.Spec.Containers, limited.Spec.InitContainers} {
		for i := range containers {
			containers[i].Resources.Requests = containers[i].Resources.Limits
		}
	}
	return objects.PodRequests(limited)
}

func claimUsage(claim *corev1.PersistentVolumeClaim) corev1.ResourceList {
	used := counted("persistentvolumeclaims")
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	used[corev1.ResourceRequestsStorage] = size
	if class := claim.Spec.StorageClassName; class != nil && *class != "" {
		used[corev1.ResourceName(*class+ofStorageClass+"persistentvolumeclaims")] = one()
		used[corev1.ResourceName(*class+ofStorageClass+"requests.storage")] = size
	}
	return used
}

// exhausted returns the names of the quotas that have no room for an object.
func exhausted(quotas []corev1.ResourceQuota, o metav1.Object) (names []string) {
	for _, q := range quotas {
		if len(LacksRoom(q, UsageIn(q, o))) > 0 {
			names = append(names, q.Name)
		}
	}
	slices.Sort(names)
	return names
}

// LacksRoom returns which of the resources a quota has no room for, sorted.
func LacksRoom(q corev1.ResourceQuota, more corev1.ResourceList) (names []string) {
	for name, hard := range q.Status.Hard {
		add, counts := more[name]
		if !counts || add.Sign() <= 0 { // what it does not add to is not refused, even above the maximum
			continue
		}
		used := q.Status.Used[name].DeepCopy()
		used.Add(add)
		if used.Cmp(hard) > 0 {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}

// perContainer are what a quota requires every container to set once it counts them.
var perContainer = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
}

// requiringValues returns the names of the quotas that count something of pods which the pod does not set.
func requiringValues(quotas []corev1.ResourceQuota, o metav1.Object) (names []string) {
	pod, is := o.(*corev1.Pod)
	if !is {
		return nil
	}
	used := podUsage(pod)
	for _, q := range quotas {
		if len(UsageIn(q, pod)) == 0 {
			continue
		}
		for _, name := range perContainer {
			if _, counts := q.Status.Hard[name]; counts && !has(used, name) {
				names = append(names, q.Name)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

func has(list corev1.ResourceList, name corev1.ResourceName) bool {
	n := list[name]
	return !n.IsZero()
}
