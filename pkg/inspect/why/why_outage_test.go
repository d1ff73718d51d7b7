package why

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// coordinatingGroups are the process groups of the coordinators in these tests.
var coordinatingGroups = []v1beta2.ProcessGroupID{"log-1", "log-2", "storage-3"}

// Outage is a database without a quorum: two of its three coordinators are on lost nodes, and
// stages wait for the database.
func Outage(t *testing.T) Input {
	t.Helper()
	in := HealthyInput(t)
	g := inspecttest.WithoutQuorum(t)
	in.Facts = of(g)
	seen := &in.Database.Status.Client.Coordinators
	seen.QuorumReachable, seen.Coordinators = false, nil
	in.Nodes = map[string]*corev1.Node{}
	for n, id := range coordinatingGroups {
		group := in.Cluster.ProcessGroup(id)
		seen.Coordinators = append(seen.Coordinators, fdb.CoordinatorStatus{Reachable: n == 2, Address: fdb.Address{Host: group.DNSName(in.Cluster), Port: 4501, FromHostname: true}})
		if n < 2 {
			in.loseNode(group)
		}
	}
	in.holdsInOutages()
	return in
}

// loseNode makes the node of a group's pod not ready.
func (in *Input) loseNode(g *v1beta2.ProcessGroupStatus) {
	name := in.Pod(g).Spec.NodeName
	in.Nodes[name] = &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute))}}},
	}
}

// holdsInOutages are what stages wait for without a database, and what a pass could do meanwhile.
func (in *Input) holdsInOutages() {
	hold := func(stage plan.StageName, code plan.HoldCode, refused ...plan.Check) {
		in.Hold(stage, "they wait", false, refused...)
		in.Plan.Holds[len(in.Plan.Holds)-1].Code = code
	}
	hold(plan.StageUpdateDatabaseConfiguration, plan.HoldConfigurationUnknown)
	hold(plan.StageChangeCoordinators, plan.HoldCheckRefused, plan.Check{ID: plan.CheckAvailable, Question: "is the database available?", Gate: plan.GateAvailable, Evidence: "the database is unavailable"})
	hold(plan.StageUpdateStatus, plan.HoldNotReconciled)
	in.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionIncorrectConfigMap, noon.Add(-time.Hour))
	in.Cluster.ProcessGroup("storage-2").SetCondition(v1beta2.ConditionIncorrectConfigMap, noon.Add(-time.Hour))
	in.Plan.Items = []planned.PlanItem{{Stage: plan.StageUpdatePodConfig, ActionRecord: inspect.ActionRecord{Kind: "SyncPodFiles", Groups: []string{"storage-1"}}}}
}

func TestWhyReportsTheCauseOfAnOutageAndHowToFixIt(t *testing.T) {
	volume := func(in *Input, id v1beta2.ProcessGroupID) {
		if in.Volumes == nil {
			in.Volumes = map[string]*corev1.PersistentVolumeClaim{}
		}
		in.Volumes[in.Cluster.ProcessGroup(id).PVCName(in.Cluster)] = &corev1.PersistentVolumeClaim{}
	}
	tests := map[string]struct {
		given    func(*Input)
		cause    OutageCause
		words    string
		steps    []string
		commands []string
	}{
		"the nodes of two coordinators are lost": {
			given: func(*Input) {}, cause: OutageNoQuorum, words: "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"bring back 1 of log-1, log-2, with its volume", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl describe node ", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
		"coordinators run that no name leads to": {
			given: func(in *Input) { in.Nodes = nil }, cause: OutageNoQuorum, words: "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"check that the names of coordinators resolve: pods run whose coordinators do not answer", "bring back 1 of log-1, log-2, with its volume", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl fdb check sample --rules CONN-003,CONN-004", "kubectl logs ", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
		"the service of the names is missing": {
			given: func(in *Input) { in.Nodes, in.Services = nil, map[string]*corev1.Service{} }, cause: OutageNoQuorum, words: "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"create service sample: without it no name of a coordinator resolves, and processes that run cannot be asked", "bring back 1 of log-1, log-2, with its volume", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl fdb reconcile sample", "kubectl logs ", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
		"the service is missing, and no coordinator has a name": {
			given: func(in *Input) {
				in.Nodes, in.Services = nil, map[string]*corev1.Service{}
				for n := range in.Database.Status.Client.Coordinators.Coordinators {
					address := in.Cluster.ProcessGroup(coordinatingGroups[n]).Addresses[0]
					in.Database.Status.Client.Coordinators.Coordinators[n].Address = fdb.Address{Host: address, Port: 4501}
					in.Pods["sample-"+string(coordinatingGroups[n])].Status.PodIP = address
					in.Pods["sample-"+string(coordinatingGroups[n])].Status.PodIPs = []corev1.PodIP{{IP: address}}
				}
			}, cause: OutageNoQuorum, words: "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"bring back 1 of log-1, log-2, with its volume", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl logs ", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
		"a pass recreates the pod of a coordinator": {
			given: func(in *Input) {
				delete(in.Pods, "sample-log-1")
				volume(in, "log-1")
				in.Plan.Items = []planned.PlanItem{{Stage: plan.StageAddPods, ActionRecord: inspect.ActionRecord{Kind: "CreatePod", Groups: []string{"log-1"}}}}
			}, cause: OutageNoQuorum, words: "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"bring back 1 of log-1, log-2, with its volume", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl fdb reconcile sample", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
		"pods and volumes of two coordinators are lost": {
			given: func(in *Input) { delete(in.Pods, "sample-log-1"); delete(in.Pods, "sample-log-2") }, cause: OutageNoQuorum,
			words:    "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"this quorum does not come back by itself: coordinators have neither a pod nor a volume; show what was lost and what can be saved", "write the plan of a recovery, and review it"},
			commands: []string{"kubectl fdb recover collect sample", "kubectl fdb recover plan sample"},
		},
		"coordinators of other data centers are lost": {
			given: func(in *Input) {
				delete(in.Pods, "sample-log-1")
				delete(in.Pods, "sample-log-2")
				in.Cluster.Spec.DatabaseConfiguration.Regions = make([]v1beta2.Region, 2)
			}, cause: OutageNoQuorum,
			words:    "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"this quorum does not come back by itself: coordinators have neither a pod nor a volume here, those of other data centers are in other resources; show what was lost and what can be saved", "write the plan of a recovery, and review it"},
			commands: []string{"kubectl fdb recover collect sample", "kubectl fdb recover plan sample"},
		},
		"coordinators have other addresses": {
			given: func(in *Input) {
				for n := range 2 {
					in.Database.Status.Client.Coordinators.Coordinators[n].Address = fdb.Address{Host: in.Cluster.ProcessGroup(coordinatingGroups[n]).Addresses[0], Port: 4501}
					in.Pods["sample-"+string(coordinatingGroups[n])].Status.PodIPs = []corev1.PodIP{{IP: "127.0.3.9"}}
					in.Pods["sample-"+string(coordinatingGroups[n])].Status.PodIP = "127.0.3.9"
				}
			}, cause: OutageNoQuorum, words: "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"this quorum does not come back by itself: coordinators have other addresses; show what was lost and what can be saved", "write the plan of a recovery, and review it"},
			commands: []string{"kubectl fdb recover collect sample", "kubectl fdb recover plan sample"},
		},
		"a quorum answers and the logs are down": {
			given: func(in *Input) {
				in.Nodes = nil
				in.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
			}, cause: OutageUnavailable, words: "the database is unavailable, and a quorum of coordinators answers",
			steps:    []string{"bring back what does not run", "wait until the database is available"},
			commands: []string{"kubectl ", "kubectl fdb wait sample --for available"},
		},
		"the status document is incomplete": {
			given: func(in *Input) { in.Database = incomplete(inspecttest.Recorded(t, "63-all-logs-down")) }, cause: OutageIncomplete,
			words:    "whether the database is available is unknown: its status document is incomplete, and a quorum of coordinators answers",
			steps:    []string{"read any key: an answer proves that the database is available", "bring back what does not run", "wait until the status document is complete; no pass changes the database before"},
			commands: []string{"kubectl fdb cli sample -- get key", "kubectl ", "kubectl fdb wait sample --for available"},
		},
		"the status document is incomplete without a quorum": {
			given: func(in *Input) { in.Database = incomplete(in.Database.Status) }, cause: OutageNoQuorum,
			words:    "no quorum: 1 of 3 coordinators answers, 2 required",
			steps:    []string{"bring back 1 of log-1, log-2, with its volume", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl ", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
		"the database does not answer": {
			given: func(in *Input) {
				in.Database = plan.DatabaseFacts{Unreachable: "timed out after 60s"}
				in.Cluster.Status.ConnectionString = "sample:abc@" + in.Cluster.ProcessGroup("log-1").Addresses[0] + ":4501"
			}, cause: OutageNoAnswer, words: "the database does not answer; whether a quorum of coordinators does is unknown",
			steps:    []string{"1 of these coordinators must run and answer: log-1", "wait until the database is available", "if no quorum comes back by itself, show what was lost and what can be saved"},
			commands: []string{"kubectl describe node ", "kubectl fdb wait sample --for available", "kubectl fdb recover collect sample"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Outage(t)
			tc.given(&in)
			v := NewReport(meta, in).Outage
			if v == nil {
				t.Fatal("no outage is reported")
			}
			var steps []string
			for i, s := range v.Steps {
				steps = append(steps, s.Message)
				if i >= len(tc.commands) || !strings.HasPrefix(s.Command, tc.commands[i]) {
					t.Errorf("command of step %d: %s", i+1, s.Command)
				}
			}
			if v.Cause != tc.cause || v.Text() != tc.words {
				t.Errorf("%s: %s", v.Cause, v.Text())
			}
			if diff := cmp.Diff(tc.steps, steps); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// incomplete are the facts of a database that could not complete a document.
func incomplete(document *fdb.Status) plan.DatabaseFacts {
	return plan.DatabaseFacts{Unreachable: "the status document is incomplete: its collection exceeded the deadline", Partial: document}
}

// In an outage the end of the report is its cause: what only waits for the database is named once,
// without a command that would run a pass.
func TestWhyOfAnOutageListsStagesThatWaitForTheDatabaseOnce(t *testing.T) {
	v := NewReport(meta, Outage(t))
	if diff := cmp.Diff([]plan.StageName{plan.StageUpdateDatabaseConfiguration, plan.StageChangeCoordinators}, v.Outage.WaitingStages); diff != "" {
		t.Error(diff)
	}
	for _, c := range v.Items {
		for _, command := range c.Next {
			if strings.Contains(command, "reconcile") {
				t.Errorf("%v: %s", c.Subjects, command)
			}
		}
	}
	last := v.Items[len(v.Items)-1]
	if diff := cmp.Diff([]string{"storage-1", "storage-2"}, last.Subjects); diff != "" || last.Summary != "wait for the database" {
		t.Errorf("%s\n%s", last.Summary, diff)
	}
}

func TestWhyReportsActionsThatRestorePodsDuringAnOutage(t *testing.T) {
	tests := map[string]struct {
		kind string
		want bool
	}{
		"a pass creates a pod":             {"CreatePod", true},
		"a pass creates the ConfigMap":     {"ApplyConfigMap", true},
		"a pass only patches what is left": {"PatchMetadata", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Outage(t)
			in.Plan.Items = []planned.PlanItem{{Stage: plan.StageAddPods, ActionRecord: inspect.ActionRecord{Kind: tc.kind}}}
			found := false
			for _, c := range NewReport(meta, in).Items {
				found = found || c.Subjects[0] == subjectCluster
			}
			if found != tc.want {
				t.Errorf("reported: %s, want %s", phrase.YesNo(&found, ""), phrase.YesNo(&tc.want, ""))
			}
		})
	}
}

func TestWhyPrintsOutageStepsOnlyDuringAnOutage(t *testing.T) {
	tests := map[string]func(*Input){
		"the database is available": func(in *Input) { *in = HealthyInput(t) },
		"there never was one": func(in *Input) {
			in.Cluster.Status.Configured, in.Database = false, plan.DatabaseFacts{Unreachable: "no pod runs"}
		},
		"permissions are missing": func(in *Input) {
			in.Database = plan.DatabaseFacts{Unreachable: "pods/exec is forbidden", Forbidden: true}
		},
		"one process group": func(in *Input) { in.Only = []v1beta2.ProcessGroupID{"log-1"} },
	}
	for name, given := range tests {
		t.Run(name, func(t *testing.T) {
			in := Outage(t)
			given(&in)
			if v := NewReport(meta, in).Outage; v != nil {
				t.Errorf("%+v", v)
			}
		})
	}
}

// What requires manual intervention is a block of its own, whatever the database does.
func TestWhyListsAManualHoldDuringAnOutage(t *testing.T) {
	in := Outage(t)
	in.Hold(plan.StageCheckClientCompatibility, "7.1 clients are connected", true)
	for _, c := range NewReport(meta, in).Items {
		if c.Subjects[0] == subjectCluster && c.State == Blocked {
			return
		}
	}
	t.Error("it is missing")
}

func TestAnErrorThatNoOtherChainNamesIsAChainOfItsOwn(t *testing.T) {
	fault := findings.Finding{Code: "POD-099", Severity: findings.Error, Groups: []string{"log-1", "log-2"}, Message: "the pod is odd", Fix: []string{"describe", "pod", "sample-log-1"}}
	mild := fault
	mild.Severity = findings.Warning
	w := why{Input: HealthyInput(t)}
	if got := w.findingsBeside([]findings.Finding{mild}, nil); len(got) > 0 {
		t.Errorf("a warning blocks nothing: %+v", got)
	}
	got := w.findingsBeside([]findings.Finding{fault}, []Chain{{Subjects: []string{"log-1"}}})
	if len(got) != 1 || got[0].State != Blocked || got[0].Reasons[0].Code != "POD-099" || got[0].Reasons[0].Message != "the pod is odd" {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]string{"log-2"}, got[0].Subjects); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"kubectl describe pod sample-log-1"}, got[0].Next); diff != "" {
		t.Error(diff)
	}
}

// Of a resource that was created again over its former objects nothing is reported but that: its process
// groups, and the database, are as they were.
func TestWhyExplainsAResourceThatWasCreatedAgain(t *testing.T) {
	const because = "the resource was created again"
	tests := map[string]struct {
		given func(*inspect.Facts)
		is    bool
	}{
		"an empty status":                          {func(*inspect.Facts) {}, true},
		"a status with process groups":             {func(f *inspect.Facts) { f.Recorded.Status.ProcessGroups = f.Cluster.Status.ProcessGroups }, false},
		"a status with a connection string":        {func(f *inspect.Facts) { f.Recorded.Status.ConnectionString = "c:d@127.0.0.1:1" }, false},
		"no object":                                {func(f *inspect.Facts) { f.Pods, f.Volumes = nil, nil }, false},
		"a connection string that only users have": {func(f *inspect.Facts) { f.ConfigMap, f.Cluster.Spec.SeedConnectionString = nil, "" }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			input := HealthyInput(t)
			f := &input.Facts
			f.Recorded = f.Cluster.DeepCopy()
			f.Recorded.Status = v1beta2.FoundationDBClusterStatus{}
			f.Cluster.Spec.SeedConnectionString = "c:d@127.0.0.1:1"
			tc.given(f)
			report := NewReport(meta, input)
			is := len(report.Items) == 1 && len(report.Items[0].Reasons) == 1 && strings.Contains(report.Items[0].Reasons[0].Message, because)
			if is != tc.is {
				t.Errorf("explained: %t, want %t: %s, %+v", is, tc.is, report.Summary, report.Items)
			}
		})
	}
}
