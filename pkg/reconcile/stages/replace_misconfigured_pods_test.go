package stages

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestReplaceMisconfiguredPods(t *testing.T) {
	atMost := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.MaxConcurrentReplacements = &n }
	}
	mark := func(ids string) []string { return []string{"mark for removal: " + ids} }
	tests := map[string]removalCase{
		"replaces all at once by default":      {given: volumeSize("64G"), does: mark(allStorage)},
		"replaces as many at once as allowed":  {given: all(volumeSize("64G"), atMost(1)), does: mark("storage-114"), holds: "2 process groups that do not match the spec wait to be replaced (storage-115; storage-116): spec.automationOptions.maxConcurrentReplacements is 1"},
		"counts groups that are being drained": {given: all(volumeSize("64G"), atMost(2), markFirst), does: mark("storage-115"), holds: "1 process group that does not match the spec"},
		"counts them whoever marked them":      {given: all(volumeSize("64G"), atMost(1), func(s *plan.Snapshot) { s.Groups()[0].MarkForRemoval(noon) }), holds: "3 process groups that do not match the spec"},
		"does not count groups that are drained": {
			given: all(volumeSize("64G"), atMost(1), excludeFirst), does: mark("storage-115"), holds: "1 process group that does not match the spec",
		},
		"replaces none when none may be":             {given: all(volumeSize("64G"), atMost(0)), holds: "maxConcurrentReplacements is 0"},
		"holds nothing when none may be and none is": {given: atMost(0)},
		"marks no group twice":                       {given: all(volumeSize("64G"), markFirst), does: mark("storage-115, storage-116")},
		"replaces the others when one cannot be compared": {
			given: all(volumeSize("64G"), claimWith(func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, v1beta2.AnnotationLastAppliedSpec) })),
			does:  mark("storage-115, storage-116"), holds: "cannot determine whether to replace: storage-114",
		},
		"stands back during an upgrade between versions that cannot talk": {
			given: all(volumeSize("64G"), func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.1.67" }), holds: "from version 7.1.67 to 7.3.79",
		},
		"goes on during an upgrade between versions that can": {
			given: all(volumeSize("64G"), func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.3.63" }), does: mark(allStorage),
		},
		"stands back while the cluster is taken to TLS": {
			given: all(volumeSize("64G"), func(s *plan.Snapshot) { s.Cluster.Status.RequiredAddresses.TLS = true }), holds: "conversion to or from TLS",
		},
		"does not ask the database": {given: all(volumeSize("64G"), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), does: mark(allStorage)},
	}
	for name, tc := range tests {
		tc.from = healthyCluster
		t.Run(name, func(t *testing.T) { tc.check(t, replaceMisconfiguredPods(Options{})) })
	}
}

func TestStandingBackTakesAsLittleAsFiveSeconds(t *testing.T) {
	for name, given := range map[string]func(*plan.Snapshot){
		"upgrade": func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.1.67" },
		"TLS": func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		},
	} {
		s := healthyCluster(t)
		given(&s)
		if d := replaceMisconfiguredPods(Options{}).Decide(s); d.Hold == nil || d.Hold.RetryAfter != 5*time.Second || d.Hold.Human || len(d.Actions) > 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A spec that allows no replacement needs a user; a budget that is used up needs only time.
func TestOnlyABudgetOfZeroNeedsAUser(t *testing.T) {
	for most, human := range map[int]bool{0: true, 1: false} {
		s := healthyCluster(t)
		volumeSize("64G")(&s)
		s.Cluster.Spec.AutomationOptions.MaxConcurrentReplacements = &most
		if d := replaceMisconfiguredPods(Options{}).Decide(s); d.Hold == nil || d.Hold.Human != human {
			t.Errorf("with a budget of %d: %+v", most, d.Hold)
		}
	}
}

// A cluster taken over from an operator has pods and PVCs with the operator's hashes.
func TestAdoptedPodsAreNotReplaced(t *testing.T) {
	s := healthyCluster(t)
	for _, pod := range s.Pods {
		pod.Spec.PriorityClassName = "set by an admission hook"
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "fdb-kubernetes-operator"}}
	}
	for _, claim := range s.Volumes {
		claim.Spec.VolumeName = "bound"
	}
	strategy(v1beta2.PodUpdateStrategyReplace)(&s)
	if d := replaceMisconfiguredPods(Options{ReplaceOnSecurityContextChange: true}).Decide(s); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("wants %v because %s, holds with %q", described(d), d.Why, reason(d))
	}
}
