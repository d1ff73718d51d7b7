package status

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// seen records in the status since when the first storage group's node is tainted.
func seen(ago time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		stagestest.FirstOf(*s, "storage").SetCondition(v1beta2.ConditionNodeTaintDetected, stagestest.Noon.Add(-ago))
	}
}

// sawTaints records on the first storage group's pod which keys passes observed on its node, each
// with the time since its first observation.
func sawTaints(pairs ...any) func(*plan.Snapshot) {
	return stagestest.PodWith(func(p *corev1.Pod) {
		recorded := plan.RecordTaints{Pod: p.Name, Seen: map[string]int64{}}
		for i := 0; i < len(pairs); i += 2 {
			recorded.Seen[pairs[i].(string)] = stagestest.Noon.Add(-pairs[i+1].(time.Duration)).Unix() //nolint:forcetypeassert // a test's own arguments
		}
		for key, value := range recorded.Patch().Annotations {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value)
		}
	})
}

func TestNodeTaints(t *testing.T) {
	const (
		detected  = string(v1beta2.ConditionNodeTaintDetected)
		replacing = string(v1beta2.ConditionNodeTaintReplacing)
	)
	hadBoth := stagestest.Had(v1beta2.ConditionNodeTaintDetected, v1beta2.ConditionNodeTaintReplacing)
	tests := map[string]struct {
		given func(*plan.Snapshot)
		has   []string
	}{
		"a clean node is not tainted":                  {stagestest.Rule("drain", 60), nil},
		"a taint that a rule names is detected":        {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime)), []string{detected}},
		"a taint without a rule is not":                {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("other", time.Hour)), nil},
		"a taint as old as its rule allows stays":      {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), seen(time.Minute)), []string{detected}},
		"a taint that is older leads to a replacement": {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), seen(time.Minute+time.Second)), []string{detected, replacing}},
		"a taint counts from the time in the taint":    {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", 2*time.Minute)), []string{detected, replacing}},
		"a taint added later has an age of its own":    {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", time.Second), seen(2*time.Minute)), []string{detected}},
		"a taint beside an exempt one has an age of its own": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.Rule("keep", math.MaxInt64), stagestest.Tainted("keep", 2*time.Hour), stagestest.Tainted("drain", time.Second), seen(2*time.Hour)), []string{detected},
		},
		"a taint of unknown age that the last pass did not see beside an exempt one is new": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.Rule("keep", math.MaxInt64), stagestest.Tainted("keep", stagestest.Sometime), stagestest.Tainted("drain", stagestest.Sometime), seen(2*time.Hour), sawTaints("keep", 2*time.Hour)), []string{detected},
		},
		"one that passes have seen for longer is replaced": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.Rule("keep", math.MaxInt64), stagestest.Tainted("keep", stagestest.Sometime), stagestest.Tainted("drain", stagestest.Sometime), seen(2*time.Hour), sawTaints("keep", 2*time.Hour, "drain", 61*time.Second)), []string{detected, replacing},
		},
		"one that took the place of another is new": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.Tainted("drain", stagestest.Sometime), seen(2*time.Hour), sawTaints("other", 2*time.Hour)), []string{detected},
		},
		"two that no pass has recorded are new: the one time may be of either": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.Tainted("a", stagestest.Sometime), stagestest.Tainted("b", stagestest.Sometime), seen(2*time.Hour)), []string{detected},
		},
		"a key that was away since counts from when it was seen again": {
			stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), seen(time.Second), sawTaints("drain", 2*time.Hour)), []string{detected},
		},
		"a record that cannot be read makes every age start again": {
			stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), seen(2*time.Hour), stagestest.PodWith(func(p *corev1.Pod) {
				metav1.SetMetaDataAnnotation(&p.ObjectMeta, plan.AnnotationTaintsSeen, "[")
			})), []string{detected},
		},
		"a key with two effects counts from the older": {
			stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", 2*time.Minute), stagestest.Tainted("drain", time.Second)), []string{detected, replacing},
		},
		"the age of a taint without a rule does not count": {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), stagestest.Tainted("other", time.Hour)), []string{detected}},
		"a rule about all taints finds any":                {stagestest.All(stagestest.Rule("*", 60), stagestest.Tainted("other", time.Hour)), []string{detected, replacing}},
		"a rule with the key of a taint beats one about all": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.Rule("drain", 7200), stagestest.Tainted("drain", time.Hour)), []string{detected},
		},
		"a rule with a key that is switched off beats one about all": {
			stagestest.All(stagestest.Rule("*", 60), stagestest.WithRule(new("drain"), nil), stagestest.Tainted("drain", time.Hour)), nil,
		},
		"a rule with a negative time is switched off":            {stagestest.All(stagestest.Rule("*", 60), stagestest.Rule("drain", -1), stagestest.Tainted("drain", time.Hour)), nil},
		"a rule without a key is about nothing":                  {stagestest.All(stagestest.WithRule(nil, new(int64(0))), stagestest.Rule("", 0), stagestest.Tainted("drain", time.Hour), stagestest.Tainted("", time.Hour)), nil},
		"a rule about all that is switched off is about nothing": {stagestest.All(stagestest.WithRule(new("*"), nil), stagestest.Tainted("drain", time.Hour)), nil},
		"a rule with the largest time of all never fires":        {stagestest.All(stagestest.Rule("drain", math.MaxInt64), stagestest.Tainted("drain", 1e6*time.Hour)), []string{detected}},
		"a rule with time 0 applies at the next pass":            {stagestest.All(stagestest.Rule("drain", 0), stagestest.Tainted("drain", stagestest.Sometime), seen(time.Second)), []string{detected, replacing}},
		"a rule with time 0 does not fire in the same second":    {stagestest.All(stagestest.Rule("drain", 0), stagestest.Tainted("drain", stagestest.Sometime)), []string{detected}},
		"the most impatient rule decides once its own taint is old enough": {
			stagestest.All(stagestest.Rule("a", 7200), stagestest.Rule("b", 60), stagestest.Tainted("a", time.Hour), stagestest.Tainted("b", stagestest.Sometime), seen(time.Hour), sawTaints("a", time.Hour, "b", 2*time.Minute)), []string{detected, replacing},
		},
		"an older taint makes no impatient rule start earlier": {stagestest.All(stagestest.Rule("a", 7200), stagestest.Rule("b", 60), stagestest.Tainted("a", time.Hour), stagestest.Tainted("b", stagestest.Sometime)), []string{detected}},
		"both clear when the taint is removed":                 {stagestest.All(stagestest.Rule("drain", 60), hadBoth), nil},
		"both clear when only taints without a rule are left":  {stagestest.All(stagestest.Rule("drain", 60), hadBoth, stagestest.Tainted("other", time.Hour)), nil},
		"both clear without rules, whatever the node":          {stagestest.All(hadBoth, stagestest.Tainted("drain", time.Hour)), nil},
		"both clear without rules and without a pod":           {stagestest.All(hadBoth, stagestest.LosePod), []string{string(v1beta2.ConditionMissingPod)}},
		"a replacement is called off when the rule becomes more patient": {
			stagestest.All(stagestest.Rule("drain", 7200), stagestest.Tainted("drain", time.Hour), hadBoth), []string{detected},
		},
		"both stay as they were while the node cannot be read": {
			stagestest.All(stagestest.Rule("drain", 60), hadBoth, func(s *plan.Snapshot) { delete(s.Nodes, stagestest.FirstPod(s).Spec.NodeName) }), []string{detected, replacing},
		},
		"nothing comes from a node that cannot be read": {
			stagestest.All(stagestest.Rule("*", 0), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" }), nil,
		},
		"both stay as they were while nodes are forbidden": {
			stagestest.All(stagestest.Rule("drain", 60), hadBoth, func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" }), []string{detected, replacing},
		},
		"both stay as they were while the pod is pending": {
			stagestest.All(stagestest.Rule("drain", 60), hadBoth, stagestest.PodWith(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending })),
			[]string{detected, replacing, string(v1beta2.ConditionPodPending)},
		},
		"both stay as they were without a pod": {stagestest.All(stagestest.Rule("drain", 60), hadBoth, stagestest.LosePod), []string{string(v1beta2.ConditionMissingPod), detected, replacing}},
		"a zone under maintenance is left alone": {
			stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", time.Hour), stagestest.UnderMaintenance("node-14")), nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			slices.Sort(tc.has)
			if diff := cmp.Diff(tc.has, conditionsOf(judged(t, s))); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTaintsSetTheDetectedAndReplacingTimestamps(t *testing.T) {
	tests := map[string]struct {
		given               func(*plan.Snapshot)
		detected, replacing time.Duration // ago
	}{
		"a taint of unknown age counts from when it was seen":           {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime)), 0, -1},
		"one of known age from when it was added":                       {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", 30*time.Second)), 30 * time.Second, -1},
		"one that was seen later than it was added is moved back":       {stagestest.All(stagestest.Rule("drain", 600), stagestest.Tainted("drain", 5*time.Minute), seen(time.Minute)), 5 * time.Minute, -1},
		"one that was seen before it was added keeps its time":          {stagestest.All(stagestest.Rule("drain", 600), stagestest.Tainted("drain", time.Second), seen(time.Minute)), time.Minute, -1},
		"an added time in the future means now":                         {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", -time.Hour)), 0, -1},
		"the time to a replacement counts from now, not from the taint": {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", time.Hour)), time.Hour, 0},
		"and goes on once it counts": {
			stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", time.Hour), func(s *plan.Snapshot) {
				stagestest.FirstOf(*s, "storage").SetCondition(v1beta2.ConditionNodeTaintReplacing, stagestest.Noon.Add(-10*time.Minute))
			}), time.Hour, 10 * time.Minute,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			g := judged(t, s)
			if since, ok := g.Condition(v1beta2.ConditionNodeTaintDetected); !ok || !since.Equal(stagestest.Noon.Add(-tc.detected)) {
				t.Errorf("detected %t since %s, want %s ago", ok, since, tc.detected)
			}
			since, ok := g.Condition(v1beta2.ConditionNodeTaintReplacing)
			if ok != (tc.replacing >= 0) || (ok && !since.Equal(stagestest.Noon.Add(-tc.replacing))) {
				t.Errorf("replacing %t since %s, want %s ago", ok, since, tc.replacing)
			}
		})
	}
}

func TestTaintsOfANodeAreRecordedOnItsPods(t *testing.T) {
	const pod = "sample-storage-114"
	at := func(ago time.Duration) int64 { return stagestest.Noon.Add(-ago).Unix() }
	exempt := stagestest.All(stagestest.Rule("*", 60), stagestest.Rule("keep", math.MaxInt64), stagestest.Tainted("keep", stagestest.Sometime), stagestest.Tainted("drain", stagestest.Sometime))
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []plan.RecordTaints
	}{
		"nothing without rules":                      {stagestest.Tainted("drain", stagestest.Sometime), nil},
		"nothing of a clean node":                    {stagestest.Rule("drain", 60), nil},
		"a key that is new counts from now":          {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime)), []plan.RecordTaints{{Pod: pod, Seen: map[string]int64{"drain": at(0)}}}},
		"what the operator recorded goes on":         {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), seen(time.Hour)), []plan.RecordTaints{{Pod: pod, Seen: map[string]int64{"drain": at(time.Hour)}}}},
		"what was seen keeps its time":               {stagestest.All(exempt, seen(time.Hour), sawTaints("keep", time.Hour)), []plan.RecordTaints{{Pod: pod, Seen: map[string]int64{"keep": at(time.Hour), "drain": at(0)}}}},
		"nothing while it is the same":               {stagestest.All(exempt, seen(time.Hour), sawTaints("keep", time.Hour, "drain", time.Minute)), nil},
		"a key that is away is forgotten":            {stagestest.All(stagestest.Rule("drain", 60), seen(time.Hour), sawTaints("drain", time.Hour)), []plan.RecordTaints{{Pod: pod, Seen: map[string]int64{}}}},
		"everything is forgotten without rules":      {stagestest.All(seen(time.Hour), sawTaints("drain", time.Hour)), []plan.RecordTaints{{Pod: pod, Seen: map[string]int64{}}}},
		"nothing while nodes cannot be read":         {stagestest.All(stagestest.Rule("drain", 60), seen(time.Hour), sawTaints("drain", time.Hour), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" }), nil},
		"nothing new of a group that is drained":     {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), drained, sawTaints("drain", time.Minute)), nil},
		"nothing under maintenance":                  {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), stagestest.UnderMaintenance("node-14")), nil},
		"nothing on a pod that terminates":           {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), stagestest.PodWith(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: stagestest.Noon} })), nil},
		"nothing while the database cannot be asked": {stagestest.All(stagestest.Rule("drain", 60), stagestest.Tainted("drain", stagestest.Sometime), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{NotQueried: "no pod runs"} }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			var got []plan.RecordTaints
			for _, a := range UpdateStatus.Decide(s).Actions {
				if recorded, ok := a.(plan.RecordTaints); ok {
					got = append(got, recorded)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// drained has the first storage group be one that only has to be removed.
func drained(s *plan.Snapshot) {
	g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
	stagestest.ExcludeFirst(s)
	stagestest.Excluding(g.ExclusionString(), g.ProcessGroupID)(s)
}

// A pass that runs again right after records nothing more, and the next one reads the ages that this
// one recorded.
func TestATaintAddedBesideAnExemptTaintStartsItsOwnTimer(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.All(stagestest.Rule("*", 600), stagestest.Rule("keep", math.MaxInt64), stagestest.Tainted("keep", stagestest.Sometime))(&s)
	pass := func() {
		for _, a := range UpdateStatus.Decide(s).Actions {
			if edit, ok := a.(plan.Edit); ok {
				s = edit.Apply(s)
			}
		}
	}
	pass()
	s.Now = s.Now.Add(2 * time.Hour)
	stagestest.Tainted("drain", stagestest.Sometime)(&s)
	pass()
	for _, later := range []struct {
		by   time.Duration
		want bool
	}{{0, false}, {10 * time.Minute, false}, {time.Second, true}} {
		s.Now = s.Now.Add(later.by)
		pass()
		if got := stagestest.FirstOf(s, "storage").HasCondition(v1beta2.ConditionNodeTaintReplacing); got != later.want {
			t.Errorf("%s later: replacing %t", later.by, got)
		}
	}
	if again := UpdateStatus.Decide(s).Actions; len(again) > 0 {
		t.Errorf("a second decision on the same snapshot writes again: %v", again)
	}
}

func TestUnreadableNodesFailTheTaintCheck(t *testing.T) {
	tests := map[string]struct {
		given     func(*plan.Snapshot)
		requested bool
		ok        bool
		evidence  string
	}{
		"there is no check without rules":     {func(*plan.Snapshot) {}, false, false, ""},
		"all nodes were read":                 {stagestest.Rule("drain", 60), true, true, "16 nodes read"},
		"nodes are hidden":                    {stagestest.All(stagestest.Rule("drain", 60), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "listing nodes is forbidden" }), true, false, "listing nodes is forbidden; recorded taints"},
		"a node was deleted":                  {stagestest.All(stagestest.Rule("drain", 60), func(s *plan.Snapshot) { delete(s.Nodes, "node-14") }), true, false, "node not found: storage-114 on node-14"},
		"a pod without a node misses nothing": {stagestest.All(stagestest.Rule("drain", 60), stagestest.PodWith(func(p *corev1.Pod) { p.Spec.NodeName = "" })), true, true, "nodes read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := UpdateStatus.Decide(s)
			if (len(d.Checks) == 1) != tc.requested {
				t.Fatalf("checks: %v", d.Checks)
			}
			if !tc.requested {
				return
			}
			if c := d.Checks[0]; c.OK != tc.ok || !strings.Contains(c.Evidence, tc.evidence) {
				t.Errorf("%t because %q, want %t because %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
			if d.Hold != nil {
				t.Errorf("holds with %q: taints never hold", d.Hold.Text())
			}
		})
	}
}

func TestTheHighRunLoopBusyConditionIsClearedButNeverSet(t *testing.T) {
	busy := string(v1beta2.ConditionProcessHasHighRunLoopBusy)
	tests := map[string]struct {
		given func(*plan.Snapshot)
		has   []string
	}{
		"what an operator recorded goes when all report":            {stagestest.Had(v1beta2.ConditionProcessHasHighRunLoopBusy), nil},
		"what an operator recorded stays while one does not report": {stagestest.All(stagestest.Had(v1beta2.ConditionProcessHasHighRunLoopBusy), unresponsive), []string{string(v1beta2.ConditionMissingProcesses), busy}},
		"however busy a process is, nothing is recorded of it":      {processWith(func(p *fdb.Process) { p.RunLoopBusy = new(0.99) }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			if diff := cmp.Diff(tc.has, conditionsOf(judged(t, s))); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
