package stages

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// dueSince marks process groups, by their index in the status, as due for a time on nodes whose taints
// have outlasted their rules.
func dueSince(ago time.Duration, places ...int) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, n := range places {
			s.Groups()[n].SetCondition(v1beta2.ConditionNodeTaintReplacing, noon.Add(-ago))
		}
	}
}

func TestReplaceTaintedPods(t *testing.T) {
	replacements := func(edit func(*v1beta2.AutomaticReplacementOptions)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { edit(&s.Cluster.Spec.AutomationOptions.Replacements) }
	}
	atMost := func(n int) func(*plan.Snapshot) {
		return replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.MaxConcurrentReplacements = &n })
	}
	allowTainted := func(share intstr.IntOrString) func(*plan.Snapshot) {
		return replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.MaxFaultDomainsWithTaintedProcessGroups = &share })
	}
	byDomain := replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.FaultDomainBasedReplacements = new(true) })
	sameDomain := func(a, b int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Groups()[b].FaultDomain = s.Groups()[a].FaultDomain }
	}
	marked := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Groups()[n].MarkForRemoval(noon.Add(-time.Minute)) }
	}
	const half = time.Hour / 2
	mark := func(ids string) []string { return []string{"mark for removal: " + ids} }
	tests := map[string]removalCase{
		"waits half an hour":                 {given: dueSince(half, 13)},
		"replaces what is due for longer":    {given: dueSince(half+time.Second, 13), does: mark("storage-114")},
		"takes its time from the spec":       {given: all(dueSince(61*time.Second, 13), replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.TaintReplacementTimeSeconds = new(60) })), does: mark("storage-114")},
		"does not take the time of failures": {given: all(dueSince(half+time.Second, 13), replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.FailureDetectionTimeSeconds = new(1000000) })), does: mark("storage-114")},
		"leaves that time to failures":       {given: func(s *plan.Snapshot) { s.Groups()[13].SetCondition(v1beta2.ConditionPodFailing, noon.Add(-time.Hour)) }},
		"never replaces for a taint that is only detected": {
			given: func(s *plan.Snapshot) {
				s.Groups()[13].SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-100*time.Hour))
			},
		},
		"replaces one at a time": {given: all(dueSince(time.Hour, 13, 14), sameDomain(13, 14)), does: mark("storage-114"), holds: "replacement of storage-115 waits"},
		"replaces none of two fault domains of sixteen": {
			given: dueSince(time.Hour, 13, 14), holds: "2 process groups stay on tainted nodes: 2 of 16 fault domains are tainted, at most 1 allowed",
		},
		"replaces none while another fault domain is tainted for a short time": {
			given: all(dueSince(time.Hour, 13), dueSince(time.Second, 14)), holds: "1 process group stays on tainted nodes: 2 of 16",
		},
		"counts the fault domains of groups that leave": {
			given: all(dueSince(time.Hour, 13, 14), marked(14), atMost(9)), holds: "1 process group stays on tainted nodes: 2 of 16",
		},
		"counts groups without a fault domain nowhere": {
			given: all(dueSince(time.Hour, 13, 14), func(s *plan.Snapshot) { s.Groups()[14].FaultDomain = "" }, atMost(9)), does: mark("storage-114, storage-115"),
		},
		"replaces two fault domains where the spec allows two":    {given: all(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromInt32(2)), atMost(9)), does: mark("storage-114, storage-115")},
		"replaces two of sixteen where the spec allows an eighth": {given: all(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromString("13%")), atMost(9)), does: mark("storage-114, storage-115")},
		"rounds a share down":                        {given: all(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromString("12%")), atMost(9)), holds: "at most 1 allowed"},
		"replaces none where the maximum is invalid": {given: all(dueSince(time.Hour, 13), allowTainted(intstr.FromString("some"))), holds: "reading maxFaultDomainsWithTaintedProcessGroups"},
		"nor a group without a fault domain then": {
			given: all(dueSince(time.Hour, 13), allowTainted(intstr.FromString("some")), func(s *plan.Snapshot) { s.Groups()[13].FaultDomain = "" }), holds: "reading maxFaultDomainsWithTaintedProcessGroups",
		},
		"reports nothing of too many before any is due": {given: dueSince(time.Second, 13, 14)},
		"replaces what failed however many fault domains are tainted": {
			given: all(dueSince(time.Hour, 13, 14), func(s *plan.Snapshot) {
				s.Groups()[12].SetCondition(v1beta2.ConditionPodFailing, noon.Add(-3*time.Hour))
			}),
			does: mark("stateless-113"), holds: "2 process groups stay on tainted nodes",
		},
		"replaces all groups of one fault domain where fault domains count": {given: all(dueSince(time.Hour, 13, 14), sameDomain(13, 14), byDomain), does: mark("storage-114, storage-115")},
		"replaces one fault domain at a time where fault domains count": {
			given: all(dueSince(time.Hour, 13, 14), allowTainted(intstr.FromInt32(2)), byDomain), does: mark("storage-114"), holds: "replacement of storage-115 waits",
		},
		"goes on with the fault domain that is being replaced": {
			given: all(dueSince(time.Hour, 14), sameDomain(13, 14), marked(13), byDomain), does: mark("storage-115"),
		},
		"waits for another fault domain that is being replaced": {given: all(dueSince(time.Hour, 14), marked(13), byDomain), holds: "replacement of storage-115 waits"},
		"waits for other replacements":                          {given: all(dueSince(time.Hour, 14), marked(13)), holds: "replacement of storage-115 waits"},
		"leaves a zone under maintenance alone":                 {given: all(dueSince(time.Hour, 13), underMaintenance("node-14"))},
		"does nothing when switched off":                        {given: all(dueSince(time.Hour, 13), replacements(func(o *v1beta2.AutomaticReplacementOptions) { o.Enabled = new(bool) }))},
		"does nothing when none may be replaced":                {given: all(dueSince(time.Hour, 13), atMost(0))},
		"waits while the database is unavailable": {
			given: all(dueSince(time.Hour, 13), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), holds: "none is replaced",
		},
	}
	for name, tc := range tests {
		tc.from = healthyCluster
		t.Run(name, func(t *testing.T) { tc.check(t, replaceFailedPods) })
	}
}

// The plan shows which of the two timers expired.
func TestAReplacementSaysWhichTimerRanOut(t *testing.T) {
	s := healthyCluster(t)
	dueSince(time.Hour, 13)(&s)
	d := replaceFailedPods.Decide(s)
	if want := "on a tainted node for longer than 30m0s"; !strings.Contains(d.Why, want) {
		t.Errorf("why: %q, want %q in it", d.Why, want)
	}
	if len(d.Checks) != 1 || !d.Checks[0].OK {
		t.Errorf("checks: %v", d.Checks)
	}
}
