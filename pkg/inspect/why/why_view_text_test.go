package why_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestTheFirstLineOfWhyShowsTheCauseAndNextCommand(t *testing.T) {
	tests := map[string]struct {
		given func(*why.Input)
		state why.State
		want  string
	}{
		"nothing is wrong": {
			given: func(*why.Input) {}, state: why.Ready,
			want: "nothing is blocked: the cluster matches its spec",
		},
		"no pass has run": {
			given: func(in *why.Input) {
				in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod"}}}
			}, state: why.Ready,
			want: "cluster has 1 action pending (CreatePod): nothing blocks the next pass  next: kubectl fdb reconcile sample",
		},
		"the cluster is skipped": {
			given: func(in *why.Input) {
				in.Cluster.Spec.Skip = true
				in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod"}}}
			}, state: why.Ready,
			want: "cluster has 1 action pending (CreatePod): spec.skip is true, so operators skip the cluster; nothing blocks a pass  next: kubectl fdb reconcile sample",
		},
		"a live operator": {
			given: func(in *why.Input) {
				in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod"}}}
				in.Plan.Gates = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "Deployment fdb/operator is one"}}
			}, state: why.Blocked,
			want: "cluster has 1 action pending (CreatePod): G-OPERATOR: is no live operator managing this cluster? Deployment fdb/operator is one  next: kubectl fdb plan sample --coexist -o wide",
		},
		"another run has the Lease": {
			given: func(in *why.Input) {
				in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod"}}}
				in.Lease = inspect.Lease{Read: true, Holder: "alice@laptop pid 7", Until: noon.Add(40 * time.Second)}
			}, state: why.Waiting,
			want: "cluster has 1 action pending (CreatePod): G-LEASE: is no other run acting on this cluster? alice@laptop pid 7 is, until 12:00:40 unless it is renewed  next: kubectl fdb reconcile sample --wait",
		},
		"an expired Lease has no holder": {
			given: func(in *why.Input) {
				in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod"}}}
				in.Lease = inspect.Lease{Read: true, Holder: "alice@laptop pid 7", Until: noon.Add(-time.Second)}
			}, state: why.Ready,
			want: "cluster has 1 action pending (CreatePod): nothing blocks the next pass  next: kubectl fdb reconcile sample",
		},
		"another instance has the lock": {
			given: func(in *why.Input) { in.Lock("dc2", 9*time.Minute) }, state: why.Waiting,
			want: "cluster has 1 action pending (Exclude): G-LOCK: may this control-plane instance take the database's lock? dc2 holds the lock until 12:09:00 (9m0s more)  next: kubectl fdb reconcile sample --wait",
		},
		"an expired lock has no owner": {
			given: func(in *why.Input) { in.Lock("dc2", -time.Second) }, state: why.Ready,
			want: "cluster has 1 action pending (Exclude): nothing blocks the next pass  next: kubectl fdb reconcile sample",
		},
		"on the deny list": {
			given: func(in *why.Input) {
				in.Lock("dc1", time.Minute)
				in.Coordination.DenyList = []string{"dc1"}
			}, state: why.Blocked,
			want: "cluster has 1 action pending (Exclude): G-DENY: may this control-plane instance take the database's lock? dc1 is on the deny list in the database  next: kubectl get fdb sample -o jsonpath={.spec.lockOptions}",
		},
		"a lock without a name": {
			given: func(in *why.Input) {
				in.Lock("dc2", -time.Minute)
				in.Cluster.Spec.ProcessGroupIDPrefix = ""
			}, state: why.Blocked,
			want: "cluster has 1 action pending (Exclude): G-LOCK-OWNER: may this control-plane instance take the database's lock? spec.processGroupIDPrefix is empty, so all control-plane instances without a prefix would share one lock  next: kubectl get fdb sample -o jsonpath={.spec.lockOptions}",
		},
		"no answer from the database": {
			given: func(in *why.Input) { in.Database = plan.DatabaseFacts{Unreachable: "timed out after 60s"} }, state: why.Unknown,
			want: "database does not answer: timed out after 60s  next: kubectl fdb status sample",
		},
		"exec is forbidden": {
			given: func(in *why.Input) {
				in.Database = plan.DatabaseFacts{Unreachable: `reaching pod ns/x: pods "x" is forbidden: User "me" cannot create resource "pods/exec"`, Forbidden: true}
			}, state: why.Unknown,
			want: `database does not answer: reaching pod ns/x: pods "x" is forbidden: User "me" cannot create resource "pods/exec"  next: kubectl auth can-i --list`,
		},
		"the pod of a coordinator does not start, and no database answers": {
			given: func(in *why.Input) {
				in.Database = plan.DatabaseFacts{Unreachable: "timed out after 60s"}
				in.Cluster.Status.ConnectionString = "sample:abc@" + in.Cluster.ProcessGroup("storage-3").Addresses[0] + ":4501"
				in.Terminates("storage-3", 40*time.Minute)
				in.Pods["sample-storage-3"].Finalizers = []string{"example.com/hold"}
			}, state: why.Unknown,
			want: "database does not answer: timed out after 60s; storage-3: its pod does not terminate, waits for its finalizers example.com/hold; the controller that set it has to remove it (coordinator)  next: kubectl describe pod sample-storage-3",
		},
		"all logs are down": {
			given: func(in *why.Input) { in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down") }, state: why.Blocked,
			want: "database is unavailable: its recovery is at",
		},
		"a coordinator that runs and does not answer": {
			given: func(in *why.Input) {
				in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
				coordinators := in.Database.Status.Client.Coordinators.Coordinators
				coordinators[0].Reachable, coordinators[0].Address.Host = false, in.Cluster.ProcessGroup("storage-3").Addresses[0]
			}, state: why.Blocked,
			want: "database is unavailable: its recovery is at",
		},
		"the scheduler has no node": {
			given: func(in *why.Input) { in.Unschedulable("storage-3", 38*time.Minute) }, state: why.Blocked,
			want: "storage-3 has MissingProcesses, PodPending for 38m: its pod is Pending, no node fits: 0/14 nodes are available: 9 Insufficient memory, 5 node(s) had untolerated taint  next: kubectl describe pod sample-storage-3",
		},
		"an image that cannot be pulled": {
			given: func(in *why.Input) {
				in.Waits("storage-3", "ImagePullBackOff", `Back-off pulling image "foundationdb/fdb:7.3.99"`)
			}, state: why.Blocked,
			want: `storage-3 has MissingProcesses for 10m: its pod cannot start container foundationdb: ImagePullBackOff: Back-off pulling image "foundationdb/fdb:7.3.99"  next: kubectl describe pod sample-storage-3`,
		},
		"a container that crashes": {
			given: func(in *why.Input) {
				c := in.Waits("storage-3", "CrashLoopBackOff", "back-off 5m0s")
				c.RestartCount = 17
				c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
			}, state: why.Blocked,
			want: "storage-3 has MissingProcesses for 10m: its pod cannot start container foundationdb: CrashLoopBackOff: back-off 5m0s; it ended with exit code 137 (OOMKilled), and was restarted 17 times  next: kubectl logs sample-storage-3 -c foundationdb --previous --tail=50",
		},
		"a crash on purpose": {
			given: func(in *why.Input) {
				in.Waits("storage-3", "CrashLoopBackOff", "back-off 5m0s")
				in.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: "foundationdb", Targets: []v1beta2.ProcessGroupID{"storage-3"}}}
			}, state: why.Blocked,
			want: "storage-3 has MissingProcesses for 10m: its pod cannot start container foundationdb: CrashLoopBackOff: back-off 5m0s; spec.buggify requests that (crashLoopContainers)  next: kubectl describe pod sample-storage-3",
		},
		"a node that is away keeps a pod from ending": {
			given: func(in *why.Input) {
				pod := in.Terminates("storage-3", 41*time.Minute)
				in.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-31*time.Minute))
				in.Nodes = map[string]*corev1.Node{pod.Spec.NodeName: {
					ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
					Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}},
				}}
			}, state: why.Blocked,
			want: "storage-3 has PodFailing for 41m: its pod does not terminate, is on node node-3, which is not ready: NodeStatusUnknown: Kubelet stopped posting node status; if its machine is off for good: kubectl delete node node-3  next: kubectl describe node node-3",
		},
		"the servers run and do not report": {
			given: func(in *why.Input) { inspecttest.Unresponsiveness(in.Snapshot, "storage-3", 12*time.Minute) }, state: why.Blocked,
			want: "storage-3 has MissingProcesses for 12m: its pod is Running, and 0 of 1 process reports to the database  next: kubectl logs sample-storage-3 -c foundationdb --tail=50",
		},
		"a removal that waits for another pod": {
			given: func(in *why.Input) {
				in.Unschedulable("storage-3", 38*time.Minute)
				in.Cluster.Spec.ProcessCounts.Storage = 6
				in.Cluster.ProcessGroup("storage-5").MarkForRemoval(noon.Add(-41 * time.Minute))
				in.Only = []v1beta2.ProcessGroupID{"storage-5"}
				in.Hold("ExcludeInstances", "no budget", false, plan.Check{ID: plan.CheckExclusionBudget, Subject: "storage", Question: "are enough storage processes up to let one go?", Gate: plan.GateBudget, Evidence: "of a preview"})
			}, state: why.Waiting,
			want: "storage-5 is marked for removal for 41m: it is not excluded yet; storage-3: its pod is Pending, no node fits: 0/14 nodes are available: 9 Insufficient memory, 5 node(s) had untolerated taint  next: kubectl describe pod sample-storage-3",
		},
		"a removal of what is drained by now": {
			given: func(in *why.Input) {
				g := in.Cluster.ProcessGroup("storage-3")
				g.MarkForRemoval(noon.Add(-41 * time.Minute))
				inspecttest.Exclude(in.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
				inspecttest.Drain(in.Snapshot, "storage-3")
				in.Coordination = plan.CoordinationFacts{ExclusionsRead: true, Exclusions: []string{g.ExclusionString()}}
				in.Plan.Items = []planned.PlanItem{{Stage: plan.StageRemovePods, ActionRecord: inspect.ActionRecord{Kind: "SetExcluded", Groups: []string{"storage-3"}, Summary: "mark as drained: storage-3"}}}
				in.Only = []v1beta2.ProcessGroupID{"storage-3"}
			}, state: why.Ready,
			want: "storage-3 is marked for removal for 41m: it is drained, which is not recorded yet; the next pass will mark as drained: storage-3",
		},
		"a user has to choose": {
			given: func(in *why.Input) { in.Hold("CheckClientCompatibility", "7.1 clients are connected", true) }, state: why.Blocked,
			want: "cluster is not reconciled: 7.1 clients are connected  next: kubectl fdb plan sample -o wide",
		},
		"time clears it": {
			given: func(in *why.Input) {
				in.Hold("BounceProcesses", "processes have to restart, but not yet", false, plan.Check{Question: "have all", Evidence: "been up?", Gate: plan.GateUptime})
			}, state: why.Waiting,
			want: "cluster is not reconciled: processes have to restart, but not yet; G-UPTIME: have all been up?  next: kubectl fdb reconcile sample --wait",
		},
		"a pass ends before the step that would help": {
			given: func(in *why.Input) {
				delete(in.Pods, "sample-storage-3")
				in.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionMissingPod, noon.Add(-time.Minute))
				in.Plan.Decided = []plan.StageName{"UpdateStatus", "DeletePodsForBuggification"}
				in.Hold("DeletePodsForBuggification", "the deleted pods are recreated in the next pass", false)
				in.Only = []v1beta2.ProcessGroupID{"storage-3"}
			}, state: why.Waiting,
			want: "storage-3 has MissingPod for 60s: its pod does not exist  next: kubectl get events --field-selector involvedObject.name=sample-storage-3",
		},
		"a lost pod comes before what only takes its time, with the command that recreates it": {
			given: func(in *why.Input) {
				in.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Hour))
				delete(in.Pods, "sample-log-2")
				in.Cluster.ProcessGroup("log-2").SetCondition(v1beta2.ConditionMissingPod, noon.Add(-time.Minute))
				in.Plan.Items = []planned.PlanItem{{Stage: "AddPods", ActionRecord: inspect.ActionRecord{Kind: "CreatePod", Groups: []string{"log-2"}, Summary: "create pod sample-log-2"}}}
			}, state: why.Waiting,
			want: "log-2 has MissingPod for 60s: its pod does not exist  next: kubectl fdb reconcile sample",
		},
		"a group that a user excluded": {
			given: func(in *why.Input) {
				in.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Hour))
			}, state: why.Waiting,
			want: "storage-1 has ProcessIsMarkedAsExcluded for 60m: it was excluded manually, and is not marked for removal  next: kubectl fdb include sample storage-1",
		},
		"of several with unknown times": {
			given: func(in *why.Input) {
				in.Recorded = in.Cluster.DeepCopy()
				inspecttest.Unresponsiveness(in.Snapshot, "storage-3", 0)
				inspecttest.Unresponsiveness(in.Snapshot, "storage-4", 0)
			}, state: why.Blocked,
			want: "storage-3, storage-4 have MissingProcesses: the pod of each is Running, and 0 of 1 process reports to the database  next: kubectl logs",
		},
		"a step that failed": {
			given: func(in *why.Input) { in.Plan.Pass.Failures = []string{"AddPods: no such image type"} }, state: why.Blocked,
			want: "cluster could not be read completely: AddPods: no such image type  next: kubectl fdb plan sample",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := why.HealthyInput(t)
			tc.given(&in)
			v := why.NewReport(meta, in)
			var b bytes.Buffer
			if err := ui.WriteWhy(&b, v, ui.WhyOptions{ListOptions: ui.ListOptions{Now: noon}}); err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(b.String(), "\n")
			if v.State != tc.state || !strings.HasPrefix(first, "fdb/sample: "+tc.want) {
				t.Errorf("state %s, want %s, and first\nfdb/sample: %s\n%s", v.State, tc.state, tc.want, &b)
			}
		})
	}
}

func TestWhyOutputFormatsOfABlockedCluster(t *testing.T) {
	tests := map[string]func(*bytes.Buffer, why.Report) error{
		"text": func(b *bytes.Buffer, v why.Report) error {
			return ui.WriteWhy(b, v, ui.WhyOptions{ListOptions: ui.ListOptions{Now: noon}})
		},
		"table":    func(b *bytes.Buffer, v why.Report) error { return ui.WriteWhyTable(b, v, ui.ListOptions{Now: noon}) },
		"document": func(b *bytes.Buffer, v why.Report) error { return ui.WriteIndentedJSON(b, v) },
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, why.NewReport(meta, why.Stuck(t))); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestWhyOfAnOutageEndsWithTheNextSteps(t *testing.T) {
	tests := map[string]func(*bytes.Buffer, why.Report) error{
		"text": func(b *bytes.Buffer, v why.Report) error {
			return ui.WriteWhy(b, v, ui.WhyOptions{ListOptions: ui.ListOptions{Now: noon}})
		},
		"table":    func(b *bytes.Buffer, v why.Report) error { return ui.WriteWhyTable(b, v, ui.ListOptions{Now: noon}) },
		"document": func(b *bytes.Buffer, v why.Report) error { return ui.WriteIndentedJSON(b, v) },
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, why.NewReport(meta, why.Outage(t))); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

// The first line has the most important evidence, and the chain that it sums up once more; nothing stands below twice.
func TestWhyPrintsEachEvidenceOnce(t *testing.T) {
	tests := map[string]struct {
		report   why.Report
		evidence []string
	}{
		"a pod that stages wait for": {why.NewReport(meta, why.Stuck(t)), []string{"no node fits"}},
		"an outage":                  {why.NewReport(meta, why.Outage(t)), []string{"is on node node-11", "is on node node-12"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := ui.WriteWhy(&b, tc.report, ui.WhyOptions{ListOptions: ui.ListOptions{Now: noon}}); err != nil {
				t.Fatal(err)
			}
			_, chains, _ := strings.Cut(b.String(), "\n")
			for _, evidence := range tc.evidence {
				if n := strings.Count(chains, evidence); n != 1 {
					t.Errorf("%q stands %d times in\n%s", evidence, n, chains)
				}
			}
		})
	}
}
