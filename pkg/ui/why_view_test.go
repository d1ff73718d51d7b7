package ui

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// asked is a report about the healthy cluster, which tests then break.
func asked(t *testing.T) WhyInput {
	t.Helper()
	line := func(program string) func(...string) string {
		return func(words ...string) string { return program + " " + strings.Join(words, " ") }
	}
	return WhyInput{Facts: healthy(t), Commands: Commands{FDB: line("kubectl fdb"), Kubectl: line("kubectl")}}
}

// unschedulable is a group whose pod the scheduler has no node for.
func (in *WhyInput) unschedulable(id v1beta2.ProcessGroupID, since time.Duration) {
	inspecttest.Silence(in.Snapshot, id, since)
	g := in.Cluster.ProcessGroup(id)
	g.SetCondition(v1beta2.ConditionPodPending, noon.Add(-since))
	pod := in.Pod(g)
	pod.Spec.NodeName = ""
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", LastTransitionTime: metav1.NewTime(noon.Add(-since)),
		Message: "0/14 nodes are available: 9 Insufficient memory, 5 node(s) had untolerated taint.",
	}}}
}

// waits is a container of a group's pod that cannot start.
func (in *WhyInput) waits(id v1beta2.ProcessGroupID, reason, message string) *corev1.ContainerStatus {
	inspecttest.Silence(in.Snapshot, id, 10*time.Minute)
	pod := in.Pod(in.Cluster.ProcessGroup(id))
	pod.CreationTimestamp = metav1.NewTime(noon.Add(-10 * time.Minute))
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}
	return &pod.Status.ContainerStatuses[0]
}

// terminates is a group's pod whose grace period ended a while ago.
func (in *WhyInput) terminates(id v1beta2.ProcessGroupID, ago time.Duration) *corev1.Pod {
	pod := in.Pod(in.Cluster.ProcessGroup(id))
	at := metav1.NewTime(noon.Add(-ago))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, new(int64)
	return pod
}

func (in *WhyInput) lock(owner string, end time.Duration) {
	in.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	in.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	in.Coordination = plan.CoordinationFacts{Read: true, Lock: &fdb.Lock{Owner: owner, Start: noon.Add(-time.Minute), End: noon.Add(end)}}
	in.Plan.Items = []PlanItem{{Stage: "ExcludeInstances", ActionRecord: ActionRecord{Kind: "Exclude", Subject: "storage-1", Groups: []string{"storage-1"}, Locked: true}, Preconditions: Preconditions{Lock: true}}}
}

func (in *WhyInput) hold(step plan.StageName, reason string, human bool, refused ...plan.Check) {
	h := plan.Hold{Reason: reason, Human: human}
	if len(refused) > 0 {
		h.Detail = refused[0].Words()
	}
	in.Plan.Holds = append(in.Plan.Holds, PlanHold{Stage: step, HoldRecord: *recordHold(&h), Refused: refused})
}

func TestTheFirstLineOfWhyIsEnoughToActOn(t *testing.T) {
	tests := map[string]struct {
		given func(*WhyInput)
		state WhyState
		want  string
	}{
		"nothing is wrong": {
			given: func(*WhyInput) {}, state: WhyReady,
			want: "nothing is blocked: the cluster matches its spec",
		},
		"nobody has run a pass": {
			given: func(in *WhyInput) {
				in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod"}}}
			}, state: WhyReady,
			want: "cluster has 1 action pending (CreatePod): nothing blocks a pass; none has run  next: kubectl fdb reconcile sample",
		},
		"the cluster is skipped": {
			given: func(in *WhyInput) {
				in.Cluster.Spec.Skip = true
				in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod"}}}
			}, state: WhyReady,
			want: "cluster has 1 action pending (CreatePod): spec.skip is true, so operators skip the cluster; nothing blocks a pass  next: kubectl fdb reconcile sample",
		},
		"a live operator": {
			given: func(in *WhyInput) {
				in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod"}}}
				in.Plan.Gates = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "Deployment fdb/operator is one"}}
			}, state: WhyBlocked,
			want: "cluster has 1 action pending (CreatePod): G-OPERATOR: is no live operator managing this cluster? Deployment fdb/operator is one  next: kubectl fdb plan sample --coexist -o wide",
		},
		"another run has the Lease": {
			given: func(in *WhyInput) {
				in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod"}}}
				in.Lease = Lease{Read: true, Holder: "alice@laptop pid 7", Until: noon.Add(40 * time.Second)}
			}, state: WhyWaiting,
			want: "cluster has 1 action pending (CreatePod): G-LEASE: is no other run acting on this cluster? alice@laptop pid 7 is, until 12:00:40 unless it is renewed  next: kubectl fdb reconcile sample --wait",
		},
		"a Lease that ran out holds nobody": {
			given: func(in *WhyInput) {
				in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod"}}}
				in.Lease = Lease{Read: true, Holder: "alice@laptop pid 7", Until: noon.Add(-time.Second)}
			}, state: WhyReady,
			want: "cluster has 1 action pending (CreatePod): nothing blocks a pass; none has run  next: kubectl fdb reconcile sample",
		},
		"another instance has the lock": {
			given: func(in *WhyInput) { in.lock("dc2", 9*time.Minute) }, state: WhyWaiting,
			want: "cluster has 1 action pending (Exclude): G-LOCK: may this control-plane instance take the database's lock? dc2 holds the lock until 12:09:00 (9m0s more)  next: kubectl fdb reconcile sample --wait",
		},
		"a lock that ran out holds nobody": {
			given: func(in *WhyInput) { in.lock("dc2", -time.Second) }, state: WhyReady,
			want: "cluster has 1 action pending (Exclude): nothing blocks a pass; none has run  next: kubectl fdb reconcile sample",
		},
		"on the deny list": {
			given: func(in *WhyInput) {
				in.lock("dc1", time.Minute)
				in.Coordination.DenyList = []string{"dc1"}
			}, state: WhyBlocked,
			want: "cluster has 1 action pending (Exclude): G-DENY: may this control-plane instance take the database's lock? dc1 is on the deny list in the database  next: kubectl get fdb sample -o jsonpath={.spec.lockOptions}",
		},
		"a lock without a name": {
			given: func(in *WhyInput) {
				in.lock("dc2", -time.Minute)
				in.Cluster.Spec.ProcessGroupIDPrefix = ""
			}, state: WhyBlocked,
			want: "cluster has 1 action pending (Exclude): G-LOCK-OWNER: may this control-plane instance take the database's lock? spec.processGroupIDPrefix is empty, so all control-plane instances without a prefix would share one lock  next: kubectl get fdb sample -o jsonpath={.spec.lockOptions}",
		},
		"no answer from the database": {
			given: func(in *WhyInput) { in.Database = plan.DatabaseFacts{Unreachable: "timed out after 60s"} }, state: WhyUnknown,
			want: "database does not answer: timed out after 60s  next: kubectl fdb status sample",
		},
		"exec is forbidden": {
			given: func(in *WhyInput) {
				in.Database = plan.DatabaseFacts{Unreachable: `forbidden: pods "x" is forbidden: User "me" cannot create resource "pods/exec"`}
			}, state: WhyUnknown,
			want: `database does not answer: forbidden: pods "x" is forbidden: User "me" cannot create resource "pods/exec"  next: kubectl auth can-i --list`,
		},
		"the pod of a coordinator does not start, and nobody answers": {
			given: func(in *WhyInput) {
				in.Database = plan.DatabaseFacts{Unreachable: "timed out after 60s"}
				in.Cluster.Status.ConnectionString = "sample:abc@" + in.Cluster.ProcessGroup("storage-3").Addresses[0] + ":4501"
				in.terminates("storage-3", 40*time.Minute)
				in.Pods["sample-storage-3"].Finalizers = []string{"example.com/hold"}
			}, state: WhyUnknown,
			want: "database does not answer: timed out after 60s; storage-3: its pod does not terminate, waits for its finalizers example.com/hold (coordinator 127.0.2.3:4501)  next: kubectl describe pod sample-storage-3",
		},
		"all logs are down": {
			given: func(in *WhyInput) { in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down") }, state: WhyBlocked,
			want: "database is unavailable: its recovery is at",
		},
		"a coordinator that runs and does not answer": {
			given: func(in *WhyInput) {
				in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
				coordinators := in.Database.Status.Client.Coordinators.Coordinators
				coordinators[0].Reachable, coordinators[0].Address.Host = false, in.Cluster.ProcessGroup("storage-3").Addresses[0]
			}, state: WhyBlocked,
			want: "database is unavailable: its recovery is at",
		},
		"the scheduler has no node": {
			given: func(in *WhyInput) { in.unschedulable("storage-3", 38*time.Minute) }, state: WhyBlocked,
			want: "storage-3 has MissingProcesses, PodPending for 38m: its pod is Pending, no node fits: 0/14 nodes are available: 9 Insufficient memory, 5 node(s) had untolerated taint  next: kubectl describe pod sample-storage-3",
		},
		"an image that cannot be pulled": {
			given: func(in *WhyInput) {
				in.waits("storage-3", "ImagePullBackOff", `Back-off pulling image "foundationdb/fdb:7.3.99"`)
			}, state: WhyBlocked,
			want: `storage-3 has MissingProcesses for 10m: its pod cannot start container foundationdb: ImagePullBackOff: Back-off pulling image "foundationdb/fdb:7.3.99"  next: kubectl describe pod sample-storage-3`,
		},
		"a container that crashes": {
			given: func(in *WhyInput) {
				c := in.waits("storage-3", "CrashLoopBackOff", "back-off 5m0s")
				c.RestartCount = 17
				c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
			}, state: WhyBlocked,
			want: "storage-3 has MissingProcesses for 10m: its pod cannot start container foundationdb: CrashLoopBackOff: back-off 5m0s; it ended with exit code 137 (OOMKilled), and was restarted 17 times  next: kubectl logs sample-storage-3 -c foundationdb --previous --tail=50",
		},
		"a crash on purpose": {
			given: func(in *WhyInput) {
				in.waits("storage-3", "CrashLoopBackOff", "back-off 5m0s")
				in.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: "foundationdb", Targets: []v1beta2.ProcessGroupID{"storage-3"}}}
			}, state: WhyBlocked,
			want: "storage-3 has MissingProcesses for 10m: its pod cannot start container foundationdb: CrashLoopBackOff: back-off 5m0s; spec.buggify requests that (crashLoopContainers)  next: kubectl describe pod sample-storage-3",
		},
		"a node that is away keeps a pod from ending": {
			given: func(in *WhyInput) {
				pod := in.terminates("storage-3", 41*time.Minute)
				in.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-31*time.Minute))
				in.Nodes = map[string]*corev1.Node{pod.Spec.NodeName: {
					ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
					Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}},
				}}
			}, state: WhyBlocked,
			want: "storage-3 has PodFailing for 31m: its pod does not terminate, is on node node-3, which is not ready: NodeStatusUnknown: Kubelet stopped posting node status  next: kubectl describe node node-3",
		},
		"the servers run and do not report": {
			given: func(in *WhyInput) { inspecttest.Silence(in.Snapshot, "storage-3", 12*time.Minute) }, state: WhyBlocked,
			want: "storage-3 has MissingProcesses for 12m: its pod is Running, and 0 of 1 process reports to the database  next: kubectl logs sample-storage-3 -c foundationdb --tail=50",
		},
		"a removal that waits for another pod": {
			given: func(in *WhyInput) {
				in.unschedulable("storage-3", 38*time.Minute)
				in.Cluster.Spec.ProcessCounts.Storage = 6
				in.Cluster.ProcessGroup("storage-5").MarkForRemoval(noon.Add(-41 * time.Minute))
				in.Only = []v1beta2.ProcessGroupID{"storage-5"}
				in.hold("ExcludeInstances", "no budget", false, plan.Check{ID: plan.CheckExclusionBudget, Subject: "storage", Question: "are enough storage processes up to let one go?", Gate: plan.GateBudget, Evidence: "of a preview"})
			}, state: WhyWaiting,
			want: "storage-5 is marked for removal for 41m: it is not excluded yet; storage-3: its pod is Pending, no node fits: 0/14 nodes are available: 9 Insufficient memory, 5 node(s) had untolerated taint  next: kubectl describe pod sample-storage-3",
		},
		"a removal of what is drained by now": {
			given: func(in *WhyInput) {
				g := in.Cluster.ProcessGroup("storage-3")
				g.MarkForRemoval(noon.Add(-41 * time.Minute))
				inspecttest.Exclude(in.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
				inspecttest.Drain(in.Snapshot, "storage-3")
				in.Coordination = plan.CoordinationFacts{ExclusionsRead: true, Exclusions: []string{g.ExclusionString()}}
				in.Plan.Items = []PlanItem{{Stage: plan.StageRemovePods, ActionRecord: ActionRecord{Kind: "SetExcluded", Groups: []string{"storage-3"}, Summary: "mark as drained: storage-3"}}}
				in.Only = []v1beta2.ProcessGroupID{"storage-3"}
			}, state: WhyReady,
			want: "storage-3 is marked for removal for 41m: it is drained, which is not recorded yet; the next pass will mark as drained: storage-3",
		},
		"a person has to choose": {
			given: func(in *WhyInput) { in.hold("CheckClientCompatibility", "7.1 clients are connected", true) }, state: WhyBlocked,
			want: "cluster is not reconciled: 7.1 clients are connected  next: kubectl fdb plan sample -o wide",
		},
		"time clears it": {
			given: func(in *WhyInput) {
				in.hold("BounceProcesses", "processes have to restart, but not yet", false, plan.Check{Question: "have all", Evidence: "been up?", Gate: plan.GateUptime})
			}, state: WhyWaiting,
			want: "cluster is not reconciled: processes have to restart, but not yet; G-UPTIME: have all been up?  next: kubectl fdb reconcile sample --wait",
		},
		"a pass ends before the step that would help": {
			given: func(in *WhyInput) {
				delete(in.Pods, "sample-storage-3")
				in.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionMissingPod, noon.Add(-time.Minute))
				in.Plan.decided = []plan.StageName{"UpdateStatus", "DeletePodsForBuggification"}
				in.hold("DeletePodsForBuggification", "the deleted pods are made anew in the next pass", false)
				in.Only = []v1beta2.ProcessGroupID{"storage-3"}
			}, state: WhyWaiting,
			want: "storage-3 has MissingPod for 60s: its pod does not exist  next: kubectl get events --field-selector involvedObject.name=sample-storage-3",
		},
		"a lost pod comes before what only takes its time, with the command that makes it anew": {
			given: func(in *WhyInput) {
				in.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Hour))
				delete(in.Pods, "sample-log-2")
				in.Cluster.ProcessGroup("log-2").SetCondition(v1beta2.ConditionMissingPod, noon.Add(-time.Minute))
				in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod", Groups: []string{"log-2"}, Summary: "create pod sample-log-2"}}}
			}, state: WhyWaiting,
			want: "log-2 has MissingPod for 60s: its pod does not exist  next: kubectl fdb reconcile sample",
		},
		"a group that somebody excluded": {
			given: func(in *WhyInput) {
				in.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Hour))
			}, state: WhyWaiting,
			want: "storage-1 has ProcessIsMarkedAsExcluded for 60m: it was excluded manually, and is not marked for removal  next: kubectl fdb include sample storage-1",
		},
		"of several nobody knows since when": {
			given: func(in *WhyInput) {
				in.Recorded = in.Cluster.DeepCopy()
				inspecttest.Silence(in.Snapshot, "storage-3", 0)
				inspecttest.Silence(in.Snapshot, "storage-4", 0)
			}, state: WhyBlocked,
			want: "storage-3, storage-4 have MissingProcesses: its pod is Running, and 0 of 1 process reports to the database  next: kubectl logs",
		},
		"a step that failed": {
			given: func(in *WhyInput) { in.Plan.Pass.Failures = []string{"AddPods: no such image type"} }, state: WhyBlocked,
			want: "cluster could not be read completely: AddPods: no such image type  next: kubectl fdb plan sample",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := asked(t)
			tc.given(&in)
			v := NewWhyReport(meta, in)
			var b bytes.Buffer
			if err := WriteWhy(&b, v, WhyOptions{ListOptions: ListOptions{Now: noon}}); err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(b.String(), "\n")
			if v.State != tc.state || !strings.HasPrefix(first, "fdb/sample: "+tc.want) {
				t.Errorf("state %s, want %s, and first\nfdb/sample: %s\n%s", v.State, tc.state, tc.want, &b)
			}
		})
	}
}

// While the database is unavailable it sees nobody, so that nobody reports explains nothing.
func TestSilenceIsNoReasonForAnOutage(t *testing.T) {
	in := asked(t)
	in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
	coordinators := in.Database.Status.Client.Coordinators.Coordinators
	coordinators[0].Reachable, coordinators[0].Address.Host = false, in.Cluster.ProcessGroup("storage-3").Addresses[0]
	in.Database.Status.Cluster.Processes = nil
	behind := NewWhyReport(meta, in).Items[0].Reasons[0].Reasons
	if len(behind) != 1 || behind[0].Subject != "storage-3" || !strings.HasPrefix(behind[0].Message, "its pod runs on node ") {
		t.Errorf("%+v", behind)
	}
}

// stuck is a cluster in which several things are in the way of each other.
func stuck(t *testing.T) WhyInput {
	t.Helper()
	in := asked(t)
	in.unschedulable("storage-3", 38*time.Minute)
	in.Cluster.Spec.ProcessCounts.Storage = 6
	in.Cluster.ProcessGroup("storage-5").MarkForRemoval(noon.Add(-41 * time.Minute))
	in.hold("ExcludeInstances", "no budget", false, plan.Check{ID: plan.CheckExclusionBudget, Subject: "storage", Question: "are enough storage processes up to let one go?", Gate: plan.GateBudget, Evidence: "of a preview"})
	for n := range 4 {
		in.Cluster.ProcessGroup(v1beta2.ProcessGroupID(fmt.Sprintf("log-%d", n+1))).SetCondition(v1beta2.ConditionIncorrectPodSpec, noon.Add(-time.Hour))
	}
	in.hold("UpdatePods", "4 pods have to be recreated; none is deleted now", false,
		plan.Check{Question: "is the database fully fault tolerant?", Gate: plan.GateReplicas, Evidence: "some data has 1 of 2 replicas, 2 required", Have: "1 replica", Need: "2 replicas"})
	in.Plan.Items = []PlanItem{{Stage: "AddPods", ActionRecord: ActionRecord{Kind: "CreatePod"}}}
	return in
}

func TestWhyScreens(t *testing.T) {
	tests := map[string]func(*bytes.Buffer, WhyReport) error{
		"text": func(b *bytes.Buffer, v WhyReport) error {
			return WriteWhy(b, v, WhyOptions{ListOptions: ListOptions{Now: noon}})
		},
		"table":    func(b *bytes.Buffer, v WhyReport) error { return WriteWhyTable(b, v, ListOptions{Now: noon}) },
		"document": func(b *bytes.Buffer, v WhyReport) error { return WriteIndentedJSON(b, v) },
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, NewWhyReport(meta, stuck(t))); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestTimersAreCountedDown(t *testing.T) {
	seconds := int64(600)
	key := "example.com/maintenance"
	tests := map[string]struct {
		given func(*WhyInput, *v1beta2.ProcessGroupStatus)
		want  string
	}{
		"a failure": {
			given: func(_ *WhyInput, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
			},
			want: "it is replaced in 90m if that persists (automationOptions.replacements.failureDetectionTimeSeconds)",
		},
		"a failure that no pass has noted": {
			given: func(in *WhyInput, g *v1beta2.ProcessGroupStatus) {
				in.Recorded = in.Cluster.DeepCopy()
				g.SetCondition(v1beta2.ConditionPodFailing, noon)
			},
			want: "it is replaced 120m after a pass has recorded that, if it persists (automationOptions.replacements.failureDetectionTimeSeconds)",
		},
		"the first timer of a taint, and the second after it": {
			given: func(_ *WhyInput, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Minute))
			},
			want: "it is replaced in 38m if that persists (taintReplacementOptions and taintReplacementTimeSeconds)",
		},
		"a taint that a rule allows for centuries": {
			given: func(in *WhyInput, g *v1beta2.ProcessGroupStatus) {
				in.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions[0].DurationInSeconds = new(int64(10_000_000_000))
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Minute))
			},
			want: "it is replaced in 317y if that persists (taintReplacementOptions and taintReplacementTimeSeconds)",
		},
		"the second timer of a taint": {
			given: func(_ *WhyInput, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-12*time.Minute))
				g.SetCondition(v1beta2.ConditionNodeTaintReplacing, noon.Add(-2*time.Minute))
			},
			want: "it is replaced in 28m if that persists (automationOptions.replacements.taintReplacementTimeSeconds)",
		},
		"a failure that may last for longer than any duration has": {
			given: func(in *WhyInput, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
				in.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(10_000_000_000)
			},
			want: "it is never replaced automatically (automationOptions.replacements.failureDetectionTimeSeconds)",
		},
		"a taint whose second timer never ends": {
			given: func(in *WhyInput, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-12*time.Minute))
				g.SetCondition(v1beta2.ConditionNodeTaintReplacing, noon.Add(-2*time.Minute))
				in.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementTimeSeconds = new(math.MaxInt)
			},
			want: "it is never replaced automatically (automationOptions.replacements.taintReplacementTimeSeconds)",
		},
		"nobody replaces it": {
			given: func(in *WhyInput, g *v1beta2.ProcessGroupStatus) {
				g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
				in.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool)
			},
			want: "automatic replacements are off (automationOptions.replacements.enabled)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := asked(t)
			g := in.Cluster.ProcessGroup("storage-3")
			node := in.Pod(g).Spec.NodeName
			in.Nodes = map[string]*corev1.Node{node: {Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: key}}}}}
			in.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: &key, DurationInSeconds: &seconds}}
			tc.given(&in, g)
			v := NewWhyReport(meta, in)
			if len(v.Items) == 0 || v.Items[0].Reasons[0].Message != tc.want {
				t.Errorf("want %q, got %+v", tc.want, v.Items)
			}
		})
	}
}

// A hint is typed by somebody who was woken up: none may delete, force or exclude.
func TestNoHintOfWhyLosesData(t *testing.T) {
	for _, c := range NewWhyReport(meta, stuck(t)).Items {
		for _, command := range c.Next {
			for _, word := range []string{"delete", "force", "exclude", "WithoutExclusion", "patch", "edit"} {
				if strings.Contains(command, word) {
					t.Errorf("%v: %s", c.Subjects, command)
				}
			}
		}
	}
}

// Chains are joined by keys, whatever their sentences say: a message about one process group
// gets a remark once it stands for several.
func TestChainsWithTheSameReasonsAreJoined(t *testing.T) {
	of := func(id, key, message string, own bool) WhyChain {
		c := WhyChain{Subjects: []string{id}, State: WhyReady, Reasons: []WhyLink{{Stage: "UpdatePodConfig", Message: message, key: key, own: own}}}
		c.summarize("with", func(n int) string { return phrase.Has(n) + " IncorrectConfigMap" })
		return c
	}
	got := alikeOnce([]WhyChain{
		of("log-1", "patch", "the next pass will patch pod/log-1", true), of("log-2", "patch", "the next pass will patch pod/log-2", true),
		of("log-3", "patch", "the next pass will patch pod/log-3", true), of("log-4", "delete", "the next pass will delete pod/log-4", true),
		of("log-5", "wait", "it waits", false), of("log-6", "wait", "it waits", false), of("log-7", "", "it waits", false), of("log-8", "", "it waits", false),
	})
	want := []WhyChain{
		{Subjects: []string{"log-1", "log-2", "log-3"}, Summary: "have IncorrectConfigMap", Reasons: []WhyLink{{Message: "the next pass will patch pod/log-1 (and alike for the others)"}}},
		{Subjects: []string{"log-4"}, Summary: "has IncorrectConfigMap", Reasons: []WhyLink{{Message: "the next pass will delete pod/log-4"}}},
		{Subjects: []string{"log-5", "log-6"}, Summary: "have IncorrectConfigMap", Reasons: []WhyLink{{Message: "it waits"}}},
		{Subjects: []string{"log-7"}, Summary: "has IncorrectConfigMap", Reasons: []WhyLink{{Message: "it waits"}}},
		{Subjects: []string{"log-8"}, Summary: "has IncorrectConfigMap", Reasons: []WhyLink{{Message: "it waits"}}},
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
func TestASilentCoordinatorOfADatabaseThatServesIsExplained(t *testing.T) {
	in := asked(t)
	coordinator := &in.Database.Status.Client.Coordinators.Coordinators[0]
	g := in.Cluster.ProcessGroup("storage-3")
	coordinator.Reachable, coordinator.Address.Host = false, g.Addresses[0]
	pod := in.Pod(g)
	since := metav1.NewTime(in.Now.Add(-time.Minute))
	in.Nodes = map[string]*corev1.Node{pod.Spec.NodeName: {
		ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: since}}},
	}}
	for _, c := range NewWhyReport(meta, in).Items {
		if c.Summary != "is degraded" {
			continue
		}
		if behind := c.Reasons[0].Reasons; len(behind) != 1 || !strings.Contains(behind[0].Message, "which is not ready: NodeStatusUnknown") || !strings.HasPrefix(c.Next[0], "kubectl describe node") {
			t.Errorf("%+v", c)
		}
		return
	}
	t.Error("nothing is said of the database")
}
