package admission

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// The labels and levels of Pod Security admission.
const (
	LabelPodSecurity = "pod-security.kubernetes.io/enforce"
	privilegedLevel  = "privileged"
)

// Cause is which rule refuses an object.
type Cause struct {
	Kind plan.RefusalKind
	// By names the objects with the rule; empty where it is unknown.
	By string
}

// Classify returns which rule of the namespace refuses an object, of which it is known that the user may create it.
// Restricted reports whether the API server accepts the same pod with the settings that the level "restricted"
// requires, which proves that Pod Security refuses it; it is called for pods in a namespace with a level only.
func Classify(facts plan.NamespaceFacts, o metav1.Object, restricted func() bool) Cause {
	if names := exhausted(facts.Quotas, o); len(names) > 0 {
		return Cause{plan.RefusedByQuota, strings.Join(names, ", ")}
	}
	if names := requiringValues(facts.Quotas, o); len(names) > 0 {
		return Cause{plan.RefusedByQuotaValues, strings.Join(names, ", ")}
	}
	if names := beyond(facts.Limits, o); len(names) > 0 {
		return Cause{plan.RefusedByLimitRange, strings.Join(names, ", ")}
	}
	if _, isPod := o.(*corev1.Pod); isPod && facts.PodSecurity != "" && facts.PodSecurity != privilegedLevel && restricted() {
		return Cause{plan.RefusedByPodSecurity, facts.PodSecurity}
	}
	return Cause{Kind: plan.RefusedByPolicy}
}

// Restricted returns a copy of a pod with the settings that the Pod Security level "restricted" requires. The
// program in it would not work; it is for dry runs.
func Restricted(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	seccomp := &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	spec := &pod.Spec
	spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(1)), SeccompProfile: seccomp}
	spec.HostNetwork, spec.HostPID, spec.HostIPC = false, false, false
	for i := range spec.Volumes {
		if spec.Volumes[i].HostPath != nil {
			spec.Volumes[i].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		}
	}
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			restrict(&containers[i])
		}
	}
	return pod
}

func restrict(c *corev1.Container) {
	c.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	for i := range c.Ports {
		c.Ports[i].HostPort = 0
	}
}

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

// UsageIn returns what an object adds to one quota: nothing where the scopes of the quota leave it out.
func UsageIn(q corev1.ResourceQuota, o metav1.Object) corev1.ResourceList {
	if slices.ContainsFunc(scopeRequirements(q), func(r corev1.ScopedResourceSelectorRequirement) bool { return !inScope(r, o) }) {
		return corev1.ResourceList{}
	}
	return Usage(o)
}

// scopeRequirements returns the scopes of a quota in one form.
func scopeRequirements(q corev1.ResourceQuota) []corev1.ScopedResourceSelectorRequirement {
	var all []corev1.ScopedResourceSelectorRequirement
	for _, scope := range q.Spec.Scopes {
		all = append(all, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		all = append(all, q.Spec.ScopeSelector.MatchExpressions...)
	}
	return all
}

// inScope reports whether a scope includes an object; false for those in which passes create nothing.
func inScope(r corev1.ScopedResourceSelectorRequirement, o metav1.Object) bool {
	pod, is := o.(*corev1.Pod)
	if !is {
		return false // scopes of PVCs are about attributes classes, which passes do not set
	}
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return pod.Spec.ActiveDeadlineSeconds != nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return pod.Spec.ActiveDeadlineSeconds == nil
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(pod)
	case corev1.ResourceQuotaScopePriorityClass:
		return hasPriority(r, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity, corev1.ResourceQuotaScopeVolumeAttributesClass:
	}
	return false
}

func bestEffort(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers), func(c corev1.Container) bool {
		return len(c.Resources.Requests)+len(c.Resources.Limits) > 0
	})
}

func hasPriority(r corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch r.Operator {
	case corev1.ScopeSelectorOpIn:
		return slices.Contains(r.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(r.Values, class)
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	}
	return false
}
