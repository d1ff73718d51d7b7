package replacements

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestReplaceMisconfiguredPods(t *testing.T) {
	atMost := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.MaxConcurrentReplacements = &n }
	}
	noProcesses := func(s *plan.Snapshot) { s.Cluster.Spec.Buggify.EmptyMonitorConf = true }
	mark := func(ids string) []string { return []string{"mark for removal: " + ids} }
	tests := map[string]stagestest.RemovalCase{
		"replaces all at once by default":      {Given: volumeSize("64G"), Does: mark(allStorage)},
		"replaces as many at once as allowed":  {Given: stagestest.All(volumeSize("64G"), atMost(1)), Does: mark("storage-114"), Holds: "2 process groups that do not match the spec wait to be replaced (storage-115; storage-116): spec.automationOptions.maxConcurrentReplacements is 1"},
		"counts groups that are being drained": {Given: stagestest.All(volumeSize("64G"), atMost(2), stagestest.MarkFirst), Does: mark("storage-115"), Holds: "1 process group that does not match the spec"},
		"counts them whoever marked them":      {Given: stagestest.All(volumeSize("64G"), atMost(1), func(s *plan.Snapshot) { s.Groups()[0].MarkForRemoval(stagestest.Noon) }), Holds: "3 process groups that do not match the spec"},
		"does not count groups that are drained": {
			Given: stagestest.All(volumeSize("64G"), atMost(1), stagestest.ExcludeFirst), Does: mark("storage-115"), Holds: "1 process group that does not match the spec",
		},
		"replaces none when none may be":             {Given: stagestest.All(volumeSize("64G"), atMost(0)), Holds: "maxConcurrentReplacements is 0"},
		"replaces none while no process is to run":   {Given: stagestest.All(volumeSize("64G"), noProcesses), Holds: "3 process groups that do not match the spec wait to be replaced (storage-114; storage-115; storage-116): spec.buggify.emptyMonitorConf is set"},
		"holds nothing when none is to be replaced":  {Given: noProcesses},
		"holds nothing when none may be and none is": {Given: atMost(0)},
		"marks no group twice":                       {Given: stagestest.All(volumeSize("64G"), stagestest.MarkFirst), Does: mark("storage-115, storage-116")},
		"replaces the others when one cannot be compared": {
			Given: stagestest.All(volumeSize("64G"), claimWith(func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, v1beta2.AnnotationLastAppliedSpec) })),
			Does:  mark("storage-115, storage-116"), Holds: "cannot determine whether to replace: storage-114",
		},
		"stands back during an upgrade between versions that cannot talk": {
			Given: stagestest.All(volumeSize("64G"), func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.1.67" }), Holds: "from version 7.1.67 to 7.3.79",
		},
		"goes on during an upgrade between versions that can": {
			Given: stagestest.All(volumeSize("64G"), func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.3.63" }), Does: mark(allStorage),
		},
		"stands back while the cluster is taken to TLS": {
			Given: stagestest.All(volumeSize("64G"), func(s *plan.Snapshot) { s.Cluster.Status.RequiredAddresses.TLS = true }), Holds: "conversion to or from TLS",
		},
		"reports a group that the spec keeps, and replaces the others": {
			Given: stagestest.All(volumeSize("64G"), stagestest.Kept("storage-114")), Does: mark("storage-115, storage-116"),
			Holds: "1 process group differs from the spec, and spec.cancelReplacementsForInstance keeps it: the spec of the PVC differs (storage-114)",
		},
		"reports all groups that the spec keeps": {
			Given: stagestest.All(volumeSize("64G"), stagestest.Kept("storage-114", "storage-115", "storage-116")),
			Holds: "3 process groups differ from the spec, and spec.cancelReplacementsForInstance keeps them: the spec of the PVC differs (" + allStorage + ")",
		},
		"has nothing to report of a kept group that cannot be compared": {
			Given: stagestest.All(stagestest.Kept("storage-114"), claimWith(func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, v1beta2.AnnotationLastAppliedSpec) })),
		},
		"does not ask the database": {Given: stagestest.All(volumeSize("64G"), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), Does: mark(allStorage)},
	}
	for name, tc := range tests {
		tc.From = stagestest.HealthyCluster
		t.Run(name, func(t *testing.T) { tc.Check(t, ReplaceMisconfiguredPods(plan.Options{})) })
	}
}

func TestReplacementsWaitingForAnUpgradeOrTLSRetryAfterFiveSeconds(t *testing.T) {
	for name, given := range map[string]func(*plan.Snapshot){
		"upgrade": func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = "7.1.67" },
		"TLS": func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		},
	} {
		s := stagestest.HealthyCluster(t)
		given(&s)
		if d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s); d.Hold == nil || d.Hold.RetryAfter != 5*time.Second || d.Hold.Manual || len(d.Actions) > 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A spec that allows no replacement needs a user; a budget that is used up needs only time.
func TestMaxConcurrentReplacementsOfZeroRequiresManualIntervention(t *testing.T) {
	for most, manual := range map[int]bool{0: true, 1: false} {
		s := stagestest.HealthyCluster(t)
		volumeSize("64G")(&s)
		s.Cluster.Spec.AutomationOptions.MaxConcurrentReplacements = &most
		if d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s); d.Hold == nil || d.Hold.Manual != manual {
			t.Errorf("with a budget of %d: %+v", most, d.Hold)
		}
	}
}

// No time resolves the difference of a group that the spec keeps.
func TestADifferingKeptGroupRequiresManualIntervention(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.All(volumeSize("64G"), stagestest.Kept("storage-114"))(&s)
	h := ReplaceMisconfiguredPods(plan.Options{}).Decide(s).Hold
	if h == nil || !h.Manual || h.Follows || h.Code != plan.HoldKeptDiffer || len(h.Subjects) != 1 {
		t.Errorf("got %+v", h)
	}
}

// Only a change of the spec ends what an empty monitor configuration prevents.
func TestAnEmptyMonitorConfRequiresManualIntervention(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	volumeSize("64G")(&s)
	s.Cluster.Spec.Buggify.EmptyMonitorConf = true
	if d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s); d.Hold == nil || !d.Hold.Manual || d.Hold.Follows {
		t.Errorf("%+v", d.Hold)
	}
}

// A cluster taken over from an operator has pods and PVCs with the operator's hashes.
func TestAdoptedPodsAreNotReplaced(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	for _, pod := range s.Pods {
		pod.Spec.PriorityClassName = "set by an admission hook"
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "fdb-kubernetes-operator"}}
	}
	for _, claim := range s.Volumes {
		claim.Spec.VolumeName = "bound"
	}
	strategy(v1beta2.PodUpdateStrategyReplace)(&s)
	if d := ReplaceMisconfiguredPods(plan.Options{ReplaceOnSecurityContextChange: true}).Decide(s); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("wants %v because %s, holds with %q", stagestest.Described(d), d.Why, stagestest.Reason(d))
	}
}

// markingAll is a stage that marks the first storage and the first log group.
func markingAll() plan.Stage {
	return WithSuccessors(plan.Stage{Name: "Mark", Reads: plan.ClusterResource, Decide: func(s plan.Snapshot) plan.Decision {
		var groups []v1beta2.ProcessGroupID
		for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog} {
			i := slices.IndexFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class })
			groups = append(groups, s.Groups()[i].ProcessGroupID)
		}
		return plan.Decision{Why: "a test", Actions: []plan.Action{plan.MarkForRemoval{Groups: groups, At: s.Now}}, Hold: &plan.Hold{Reason: "others wait", RetryAfter: time.Second}}
	}})
}

func refusal(kind plan.RefusalKind) plan.Refusal {
	return plan.NewRefusal(plan.WrittenPod, "sample-storage-1", kind, "rule", "the text")
}

func TestAGroupIsMarkedOnlyIfTheAPIServerAcceptsItsSuccessor(t *testing.T) {
	storage := v1beta2.ProcessClassStorage
	tests := map[string]struct {
		facts  plan.SuccessorFacts
		marked int
		manual bool
		says   string
	}{
		"both are accepted":        {facts: plan.SuccessorFacts{Read: true}, marked: 2, says: "others wait"},
		"a quota refuses storage":  {facts: plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{storage: refusal(plan.RefusedByQuota)}}, marked: 1, says: "others wait; storage-"},
		"a policy refuses storage": {facts: plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{storage: refusal(plan.RefusedByPolicy)}}, marked: 1, manual: true, says: "would not accept the successor"},
		"the answer is unknown":    {facts: plan.SuccessorFacts{Read: true, Unknown: map[v1beta2.ProcessClass]string{storage: "no answer"}}, marked: 1, says: "cannot determine whether the API server accepts"},
		"nothing was tried":        {facts: plan.SuccessorFacts{}, marked: 0, says: "cannot determine whether the API server accepts"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Successors = tc.facts
			stage := markingAll()
			if stage.Facets(s)&plan.Successors == 0 {
				t.Error("the dry run is not read")
			}
			d := stage.Decide(s)
			marked := 0
			for _, a := range d.Actions {
				marked += len(a.(plan.MarkForRemoval).Groups)
			}
			if marked != tc.marked || d.Hold.Manual != tc.manual || !strings.Contains(d.Hold.Text(), tc.says) {
				t.Errorf("marked %d, hold %+v; want %d, manual %t, %q", marked, d.Hold, tc.marked, tc.manual, tc.says)
			}
			if c, refused := d.Refused(); tc.marked < 2 && (!refused || c.Gate != plan.GateAdmission) {
				t.Errorf("checks %+v", d.Checks)
			}
		})
	}
}

// No dry run is made by a pass that replaces nothing.
func TestSuccessorsAreReadOnlyIfAGroupIsAboutToBeMarked(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	for _, stage := range []plan.Stage{ReplaceFailedPods, ReplaceMisconfiguredPods(plan.Options{})} {
		if stage.Facets(s)&plan.Successors != 0 {
			t.Errorf("%s tries successors on a healthy cluster", stage.Name)
		}
	}
}
