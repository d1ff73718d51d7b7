package admission_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func quota(name string, hard, used corev1.ResourceList) func(*plan.NamespaceFacts) {
	return func(f *plan.NamespaceFacts) {
		f.Quotas = append(f.Quotas, corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}})
	}
}

// scoped is a full quota of pods in a scope, which is a plain one without an operator.
func scoped(scope corev1.ResourceQuotaScope, by corev1.ScopeSelectorOperator, values ...string) func(*plan.NamespaceFacts) {
	return func(f *plan.NamespaceFacts) {
		quota("q", amounts("pods", "7"), amounts("pods", "7"))(f)
		spec := &f.Quotas[0].Spec
		if by == "" {
			spec.Scopes = []corev1.ResourceQuotaScope{scope}
			return
		}
		spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: scope, Operator: by, Values: values}}}
	}
}

func limits(item corev1.LimitRangeItem) func(*plan.NamespaceFacts) {
	return func(f *plan.NamespaceFacts) {
		f.Limits = []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "range"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}}
	}
}

func secured(level string) func(*plan.NamespaceFacts) {
	return func(f *plan.NamespaceFacts) { f.PodSecurity = level }
}

func podOf(requests, most corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests, Limits: most}}}}}
}

func claim(size, class string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: amounts("storage", size)}}}
	if class != "" {
		c.Spec.StorageClassName = &class
	}
	return c
}

func TestTheRuleThatRefusesAnObjectIsFoundByFacts(t *testing.T) {
	small := podOf(amounts("cpu", "1", "memory", "1Gi"), amounts("cpu", "2", "memory", "2Gi"))
	balanced := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
	tests := map[string]struct {
		object client.Object
		facts  func(*plan.NamespaceFacts)
		// restricted is true where the API server accepts the pod with the settings of the level.
		restricted bool
		want       admission.Cause
	}{
		"a quota of pods is full":                               {object: small, facts: quota("q", amounts("pods", "7"), amounts("pods", "7")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a quota of pods has room for one":                      {object: small, facts: quota("q", amounts("pods", "7"), amounts("pods", "6")), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a quota counts objects by kind":                        {object: small, facts: quota("q", amounts("count/pods", "7"), amounts("count/pods", "7")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a quota of memory has less than requested":             {object: small, facts: quota("q", amounts("requests.memory", "8Gi"), amounts("requests.memory", "7680Mi")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a quota of limits":                                     {object: small, facts: quota("q", amounts("limits.cpu", "8"), amounts("limits.cpu", "7")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a full quota of pods with a deadline":                  {object: small, facts: scoped(corev1.ResourceQuotaScopeTerminating, ""), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a full quota of pods without a deadline":               {object: small, facts: scoped(corev1.ResourceQuotaScopeNotTerminating, ""), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a full quota of pods without requests":                 {object: small, facts: scoped(corev1.ResourceQuotaScopeBestEffort, ""), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a full quota of pods with requests":                    {object: small, facts: scoped(corev1.ResourceQuotaScopeNotBestEffort, ""), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a full quota of another priority class":                {object: small, facts: scoped(corev1.ResourceQuotaScopePriorityClass, corev1.ScopeSelectorOpIn, "high"), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a full quota of all priority classes but one":          {object: small, facts: scoped(corev1.ResourceQuotaScopePriorityClass, corev1.ScopeSelectorOpNotIn, "high"), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a full quota of pods with a priority class":            {object: small, facts: scoped(corev1.ResourceQuotaScopePriorityClass, corev1.ScopeSelectorOpExists), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a full quota of pods without a priority class":         {object: small, facts: scoped(corev1.ResourceQuotaScopePriorityClass, corev1.ScopeSelectorOpDoesNotExist), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a full quota of PVCs by attributes":                    {object: small, facts: scoped(corev1.ResourceQuotaScopeVolumeAttributesClass, corev1.ScopeSelectorOpExists), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a quota requires values":                               {object: podOf(nil, nil), facts: quota("q", amounts("limits.cpu", "8"), nil), want: admission.Cause{Kind: plan.RefusedByQuotaValues, By: "q"}},
		"a quota of storage":                                    {object: claim("16Gi", ""), facts: quota("q", amounts("requests.storage", "20Gi"), amounts("requests.storage", "16Gi")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a quota of one storage class":                          {object: claim("16Gi", "fast"), facts: quota("q", amounts("fast.storageclass.storage.k8s.io/persistentvolumeclaims", "1"), amounts("fast.storageclass.storage.k8s.io/persistentvolumeclaims", "1")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a quota of another storage class":                      {object: claim("16Gi", "slow"), facts: quota("q", amounts("fast.storageclass.storage.k8s.io/persistentvolumeclaims", "1"), amounts("fast.storageclass.storage.k8s.io/persistentvolumeclaims", "1")), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a quota of load balancers":                             {object: balanced, facts: quota("q", amounts("services.loadbalancers", "0"), nil), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a quota of ConfigMaps":                                 {object: &corev1.ConfigMap{}, facts: quota("q", amounts("configmaps", "1"), amounts("configmaps", "1")), want: admission.Cause{Kind: plan.RefusedByQuota, By: "q"}},
		"a container above the maximum":                         {object: small, facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amounts("memory", "1Gi")}), want: admission.Cause{Kind: plan.RefusedByLimitRange, By: "range"}},
		"a container below the minimum":                         {object: small, facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: amounts("cpu", "2")}), want: admission.Cause{Kind: plan.RefusedByLimitRange, By: "range"}},
		"a container that gets the defaults":                    {object: podOf(nil, nil), facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: amounts("cpu", "2"), Default: amounts("cpu", "1")}), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a ratio of limit to request":                           {object: small, facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, MaxLimitRequestRatio: amounts("cpu", "1")}), want: admission.Cause{Kind: plan.RefusedByLimitRange, By: "range"}},
		"a pod above the maximum":                               {object: small, facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amounts("cpu", "1")}), want: admission.Cause{Kind: plan.RefusedByLimitRange, By: "range"}},
		"a PVC above the maximum":                               {object: claim("16Gi", ""), facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: amounts("storage", "10Gi")}), want: admission.Cause{Kind: plan.RefusedByLimitRange, By: "range"}},
		"a PVC within the limits":                               {object: claim("10Gi", ""), facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: amounts("storage", "10Gi")}), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a pod that the level does not allow":                   {object: small, facts: secured("restricted"), restricted: true, want: admission.Cause{Kind: plan.RefusedByPodSecurity, By: "restricted"}},
		"a level, and the pod is refused with its settings too": {object: small, facts: secured("restricted"), want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a level that allows everything":                        {object: small, facts: secured("privileged"), restricted: true, want: admission.Cause{Kind: plan.RefusedByPolicy}},
		"a level, and no pod":                                   {object: claim("16Gi", ""), facts: secured("restricted"), restricted: true, want: admission.Cause{Kind: plan.RefusedByPolicy}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var facts plan.NamespaceFacts
			tc.facts(&facts)
			if got := admission.Classify(facts, tc.object, func() bool { return tc.restricted }); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestARestrictedPodAsksForNothingThatTheLevelForbids(t *testing.T) {
	pod := podOf(nil, nil)
	pod.Spec.HostNetwork = true
	pod.Spec.InitContainers = []corev1.Container{{SecurityContext: &corev1.SecurityContext{Privileged: new(true)}, Ports: []corev1.ContainerPort{{HostPort: 80}}}}
	pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
	got := admission.Restricted(pod).Spec
	if got.HostNetwork || got.Volumes[0].HostPath != nil || got.InitContainers[0].SecurityContext.Privileged != nil || got.InitContainers[0].Ports[0].HostPort != 0 {
		t.Errorf("got %+v", got)
	}
	for _, c := range append(got.Containers, got.InitContainers...) {
		if c.SecurityContext == nil || *c.SecurityContext.AllowPrivilegeEscalation || !*c.SecurityContext.RunAsNonRoot || len(c.SecurityContext.Capabilities.Drop) == 0 {
			t.Errorf("got %+v", c.SecurityContext)
		}
	}
	if !pod.Spec.HostNetwork {
		t.Error("the pod itself was changed")
	}
}
