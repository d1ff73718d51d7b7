package why

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// HealthyInput is a report about the healthy cluster, which tests then break.
func HealthyInput(t *testing.T) Input {
	t.Helper()
	line := func(program string) func(...string) string {
		return func(words ...string) string { return program + " " + strings.Join(words, " ") }
	}
	return Input{Facts: healthy(t), Commands: inspect.Commands{FDB: line("kubectl fdb"), Kubectl: line("kubectl")}}
}

// Unschedulable is a group whose pod the scheduler has no node for.
func (in *Input) Unschedulable(id v1beta2.ProcessGroupID, since time.Duration) {
	inspecttest.Unresponsiveness(in.Snapshot, id, since)
	g := in.Cluster.ProcessGroup(id)
	g.SetCondition(v1beta2.ConditionPodPending, noon.Add(-since))
	pod := in.Pod(g)
	pod.Spec.NodeName = ""
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", LastTransitionTime: metav1.NewTime(noon.Add(-since)),
		Message: "0/14 nodes are available: 9 Insufficient memory, 5 node(s) had untolerated taint.",
	}}}
}

// Waits is a container of a group's pod that cannot start.
func (in *Input) Waits(id v1beta2.ProcessGroupID, reason, message string) *corev1.ContainerStatus {
	inspecttest.Unresponsiveness(in.Snapshot, id, 10*time.Minute)
	pod := in.Pod(in.Cluster.ProcessGroup(id))
	pod.CreationTimestamp = metav1.NewTime(noon.Add(-10 * time.Minute))
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}
	return &pod.Status.ContainerStatuses[0]
}

// Terminates is a group's pod whose grace period ended a while ago.
func (in *Input) Terminates(id v1beta2.ProcessGroupID, ago time.Duration) *corev1.Pod {
	pod := in.Pod(in.Cluster.ProcessGroup(id))
	at := metav1.NewTime(noon.Add(-ago))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, new(int64)
	return pod
}

func (in *Input) Lock(owner string, end time.Duration) {
	in.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	in.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	in.Coordination = plan.CoordinationFacts{Read: true, Lock: &fdb.Lock{Owner: owner, Start: noon.Add(-time.Minute), End: noon.Add(end)}}
	in.Plan.Items = []planned.PlanItem{{Stage: "ExcludeInstances", ActionRecord: inspect.ActionRecord{Kind: "Exclude", Subject: "storage-1", Groups: []string{"storage-1"}, Locked: true}, Preconditions: planned.Preconditions{Lock: true}}}
}

func (in *Input) Hold(step plan.StageName, reason string, manual bool, refused ...plan.Check) {
	h := plan.Hold{Reason: reason, Manual: manual}
	if len(refused) > 0 {
		h.Detail = refused[0].Text()
	}
	in.Plan.Holds = append(in.Plan.Holds, planned.PlanHold{Stage: step, HoldRecord: *inspect.RecordHold(&h), Refused: refused})
}

// While the database is unavailable it sees no process, so a missing report explains nothing.
func TestMissingReportsDoNotExplainAnOutage(t *testing.T) {
	in := HealthyInput(t)
	in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
	coordinators := in.Database.Status.Client.Coordinators.Coordinators
	coordinators[0].Reachable, coordinators[0].Address.Host = false, in.Cluster.ProcessGroup("storage-3").Addresses[0]
	in.Database.Status.Cluster.Processes = nil
	behind := NewReport(meta, in).Items[0].Reasons[0].Reasons
	if len(behind) != 1 || behind[0].Subject != "storage-3" || !strings.HasPrefix(behind[0].Message, "its pod runs on node ") {
		t.Errorf("%+v", behind)
	}
}

// Stuck is a cluster in which several things are in the way of each other.
func Stuck(t *testing.T) Input {
	t.Helper()
	in := HealthyInput(t)
	in.Unschedulable("storage-3", 38*time.Minute)
	in.Cluster.Spec.ProcessCounts.Storage = 6
	in.Cluster.ProcessGroup("storage-5").MarkForRemoval(noon.Add(-41 * time.Minute))
	in.Hold("ExcludeInstances", "no budget", false, plan.Check{ID: plan.CheckExclusionBudget, Subject: "storage", Question: "are enough storage processes up to let one go?", Gate: plan.GateBudget, Evidence: "of a preview"})
	for n := range 4 {
		in.Cluster.ProcessGroup(v1beta2.ProcessGroupID(fmt.Sprintf("log-%d", n+1))).SetCondition(v1beta2.ConditionIncorrectPodSpec, noon.Add(-time.Hour))
	}
	in.Hold("UpdatePods", "4 pods have to be recreated; none is deleted now", false,
		plan.Check{Question: "is the database fully fault tolerant?", Gate: plan.GateReplicas, Evidence: "some data has 1 of 2 replicas, 2 required", Have: "1 replica", Need: "2 replicas"})
	in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod"}}}
	return in
}

func TestWhyShowsTheTimeUntilReplacement(t *testing.T) {
	seconds := int64(600)
	key := "example.com/maintenance"
	tests := map[string]struct {
		given func(*Input, *v1beta2.ProcessGroupStatus)
		want  string
	}{
		"a failure": {
			given: func(_ *Input, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
			},
			want: "it is replaced in 90m if that persists (automationOptions.replacements.failureDetectionTimeSeconds)",
		},
		"a failure that no pass has noted": {
			given: func(in *Input, g *v1beta2.ProcessGroupStatus) {
				in.Recorded = in.Cluster.DeepCopy()
				g.SetCondition(v1beta2.ConditionPodFailing, noon)
			},
			want: "it is replaced 120m after a pass has recorded that, if it persists (automationOptions.replacements.failureDetectionTimeSeconds)",
		},
		"the first timer of a taint, and the second after it": {
			given: func(_ *Input, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Minute))
			},
			want: "it is replaced in 38m if that persists (taintReplacementOptions and taintReplacementTimeSeconds)",
		},
		"a taint that a rule allows for centuries": {
			given: func(in *Input, g *v1beta2.ProcessGroupStatus) {
				in.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions[0].DurationInSeconds = new(int64(10_000_000_000))
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Minute))
			},
			want: "it is replaced in 317y if that persists (taintReplacementOptions and taintReplacementTimeSeconds)",
		},
		"the second timer of a taint": {
			given: func(_ *Input, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-12*time.Minute))
				g.SetCondition(v1beta2.ConditionNodeTaintReplacing, noon.Add(-2*time.Minute))
			},
			want: "it is replaced in 28m if that persists (automationOptions.replacements.taintReplacementTimeSeconds)",
		},
		"a failure that may last for longer than any duration has": {
			given: func(in *Input, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
				in.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(10_000_000_000)
			},
			want: "it is never replaced automatically (automationOptions.replacements.failureDetectionTimeSeconds)",
		},
		"a taint whose second timer never ends": {
			given: func(in *Input, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-12*time.Minute))
				g.SetCondition(v1beta2.ConditionNodeTaintReplacing, noon.Add(-2*time.Minute))
				in.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementTimeSeconds = new(math.MaxInt)
			},
			want: "it is never replaced automatically (automationOptions.replacements.taintReplacementTimeSeconds)",
		},
		"no pass replaces it": {
			given: func(in *Input, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
				in.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool)
			},
			want: "automatic replacements are off (automationOptions.replacements.enabled)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := HealthyInput(t)
			g := in.Cluster.ProcessGroup("storage-3")
			node := in.Pod(g).Spec.NodeName
			in.Nodes = map[string]*corev1.Node{node: {Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: key}}}}}
			in.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: &key, DurationInSeconds: &seconds}}
			tc.given(&in, g)
			v := NewReport(meta, in)
			if len(v.Items) == 0 || v.Items[0].Reasons[0].Message != tc.want {
				t.Errorf("want %q, got %+v", tc.want, v.Items)
			}
		})
	}
}

// A hint is typed by a user who was woken up: none may delete, force or exclude.
func TestWhyNeverSuggestsDestructiveCommands(t *testing.T) {
	hints := 0
	for _, c := range NewReport(meta, Stuck(t)).Items {
		hints += len(c.Next)
		for _, command := range c.Next {
			for _, word := range []string{"delete", "force", "exclude", "WithoutExclusion", "patch", "edit"} {
				if strings.Contains(command, word) {
					t.Errorf("%v: %s", c.Subjects, command)
				}
			}
		}
	}
	if hints < 5 {
		t.Errorf("only %d hints of a cluster with 5 problems", hints)
	}
}

// Chains are joined by keys, whatever their sentences say: a message about one process group
// gets a remark once it stands for several.
func TestWhyChainsWithTheSameReasonsAreJoined(t *testing.T) {
	of := func(id, key, message string, own bool) Chain {
		c := Chain{Subjects: []string{id}, State: Ready, Reasons: []Link{{Stage: "UpdatePodConfig", Message: message, key: key, own: own}}}
		c.summarize("with", func(n int) string { return phrase.Has(n) + " IncorrectConfigMap" })
		return c
	}
	got := alikeOnce([]Chain{
		of("log-1", "patch", "the next pass will patch pod/log-1", true), of("log-2", "patch", "the next pass will patch pod/log-2", true),
		of("log-3", "patch", "the next pass will patch pod/log-3", true), of("log-4", "delete", "the next pass will delete pod/log-4", true),
		of("log-5", "wait", "it waits", false), of("log-6", "wait", "it waits", false), of("log-7", "", "it waits", false), of("log-8", "", "it waits", false),
	})
	want := []Chain{
		{Subjects: []string{"log-1", "log-2", "log-3"}, Summary: "have IncorrectConfigMap", Reasons: []Link{{Message: "the next pass will patch pod/log-1 (and alike for the others)"}}},
		{Subjects: []string{"log-4"}, Summary: "has IncorrectConfigMap", Reasons: []Link{{Message: "the next pass will delete pod/log-4"}}},
		{Subjects: []string{"log-5", "log-6"}, Summary: "have IncorrectConfigMap", Reasons: []Link{{Message: "it waits"}}},
		{Subjects: []string{"log-7"}, Summary: "has IncorrectConfigMap", Reasons: []Link{{Message: "it waits"}}},
		{Subjects: []string{"log-8"}, Summary: "has IncorrectConfigMap", Reasons: []Link{{Message: "it waits"}}},
	}
	if len(got) != len(want) {
		t.Fatalf("%d chains, want %d: %+v", len(got), len(want), got)
	}
	for i, c := range got {
		if !slices.Equal(c.Subjects, want[i].Subjects) || c.Summary != want[i].Summary || c.Reasons[0].Message != want[i].Reasons[0].Message {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
}

// Of a coordinator that does not answer the way leads to its pod, also while the database serves.
func TestAnUnreachableCoordinatorOfAnAvailableDatabaseIsExplained(t *testing.T) {
	in := HealthyInput(t)
	coordinator := &in.Database.Status.Client.Coordinators.Coordinators[0]
	g := in.Cluster.ProcessGroup("storage-3")
	coordinator.Reachable, coordinator.Address.Host = false, g.Addresses[0]
	pod := in.Pod(g)
	since := metav1.NewTime(in.Now.Add(-time.Minute))
	in.Nodes = map[string]*corev1.Node{pod.Spec.NodeName: {
		ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: since}}},
	}}
	for _, c := range NewReport(meta, in).Items {
		if c.Summary != "is degraded" {
			continue
		}
		if behind := c.Reasons[0].Reasons; len(behind) != 1 || !strings.Contains(behind[0].Message, "which is not ready: NodeStatusUnknown") || !strings.HasPrefix(c.Next[0], "kubectl describe node") {
			t.Errorf("%+v", c)
		}
		return
	}
	t.Error("nothing is reported of the database")
}
