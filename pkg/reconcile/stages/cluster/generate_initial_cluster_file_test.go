package cluster

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// beforeTheClusterFile returns a cluster with running pods and without a connection string.
func beforeTheClusterFile(t *testing.T) plan.Snapshot {
	t.Helper()
	s := stagestest.HealthyCluster(t)
	s.Cluster.Status.ConnectionString, s.Cluster.Status.Configured = "", false
	s.ConfigMap.Data[objects.KeyClusterFile] = ""
	s.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	return s
}

// hosts are the coordinators of the connection string that a decision sets.
func hosts(t *testing.T, d plan.Decision) []string {
	t.Helper()
	var names []string
	for _, a := range d.Actions {
		c, err := fdb.ParseConnectionString(a.(plan.SetConnectionString).ConnectionString)
		if err != nil {
			t.Fatal(err)
		}
		for _, coordinator := range c.Coordinators {
			names = append(names, coordinator.String())
		}
	}
	return names
}

func zones(zone func(n int) string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for i, g := range s.Groups() {
			s.PodFiles[g.PodName(s.Cluster)].Variables[v1beta2.EnvZoneID] = zone(i)
		}
	}
}

// onlyRunning leaves n eligible pods running; the others are as given.
func onlyRunning(n int, others func(*plan.Snapshot, *v1beta2.ProcessGroupStatus)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, g := range s.Groups() {
			if _, eligible := s.Cluster.CoordinatorPriority(g.ProcessClass); !eligible {
				continue
			}
			if n--; n < 0 {
				others(s, g)
			}
		}
	}
}

func pendingFor(age time.Duration) func(*plan.Snapshot, *v1beta2.ProcessGroupStatus) {
	return func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
		s.Pod(g).Status.Phase = corev1.PodPending
		g.SetCondition(v1beta2.ConditionPodPending, stagestest.Noon.Add(-age))
	}
}

// unscheduled is a pod that fits no node.
func unscheduled(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	pendingFor(time.Minute)(s, g)
	pod := s.Pod(g)
	pod.Spec.NodeName = ""
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Message: "0/6 nodes are available: 6 Insufficient memory. preemption: 0/6 nodes are available: 6 No preemption victims found for incoming pod.",
	}}
}

// withoutImage is a pod whose image does not exist.
func withoutImage(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	pendingFor(time.Minute)(s, g)
	s.Pod(g).Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}
}

func TestGenerateInitialClusterFile(t *testing.T) {
	lost := func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { delete(s.Pods, g.PodName(s.Cluster)) }
	first3 := []string{"10.1.0.1:4501", "10.1.0.2:4501", "10.1.0.3:4501"}
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		hosts  []string
		holds  string
		manual bool
	}{
		"takes the first pods in different fault domains": {given: func(*plan.Snapshot) {}, hosts: first3, holds: "need the new cluster file first"},
		"has nothing to do where there is one":            {given: func(s *plan.Snapshot) { s.Cluster.Status.ConnectionString = stagestest.SampleConnectionString }},
		"names pods by DNS where the spec wants that": {
			given: func(s *plan.Snapshot) { s.Cluster.Spec.Routing.UseDNSInClusterFile = nil },
			hosts: []string{"sample-log-101.sample.fdb.svc.cluster.local:4501", "sample-log-102.sample.fdb.svc.cluster.local:4501", "sample-log-103.sample.fdb.svc.cluster.local:4501"},
			holds: "need the new cluster file first",
		},
		"names listeners with TLS where the spec wants that": {
			given: func(s *plan.Snapshot) { s.Cluster.Spec.MainContainer.EnableTLS = true },
			hosts: []string{"10.1.0.1:4500:tls", "10.1.0.2:4500:tls", "10.1.0.3:4500:tls"}, holds: "need the new cluster file first",
		},
		"never takes two of one fault domain": {
			given: zones(func(n int) string { return stagestest.NodeName(n / 2) }),
			hosts: []string{"10.1.0.14:4501", "10.1.0.1:4501", "10.1.0.3:4501"}, holds: "need the new cluster file first",
		},
		"waits while all are in two fault domains": {
			given: zones(func(n int) string { return stagestest.NodeName(n % 2) }), holds: "only 2 of 3 candidates can be chosen",
		},
		"waits for enough running pods": {given: onlyRunning(2, lost), holds: "2 of 3 pods for the first coordinators are running"},
		"does not count pods that terminate": {given: onlyRunning(2, func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
			ends := stagestest.NoonTime()
			s.Pod(g).DeletionTimestamp = &ends
		}), holds: "2 of 3 pods"},
		"does not count groups that are leaving":         {given: onlyRunning(2, func(_ *plan.Snapshot, g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(stagestest.Noon) }), holds: "2 of 3 pods"},
		"waits for pods that just started to be pending": {given: onlyRunning(3, pendingFor(time.Minute)), holds: "4 pods pending"},
		"names why pods are pending":                     {given: onlyRunning(3, unscheduled), holds: "4 pods pending; the first coordinators are chosen among all: pod sample-log-104 is not scheduled: 0/6 nodes are available: 6 Insufficient memory"},
		"names why too few are running":                  {given: onlyRunning(2, unscheduled), holds: "2 of 3 pods for the first coordinators are running: pod sample-log-103 is not scheduled: 0/6"},
		"is blocked by images that leave too few pods which can start": {
			given: onlyRunning(2, withoutImage), manual: true,
			holds: "2 of 3 pods for the first coordinators are running: pod sample-log-103 cannot start container foundationdb: ImagePullBackOff",
		},
		"waits while enough other pods can start": {given: stagestest.All(onlyRunning(2, pendingFor(time.Minute)), func(s *plan.Snapshot) {
			withoutImage(s, s.Groups()[len(s.Groups())-1])
		}), holds: "2 of 3 pods for the first coordinators are running: pod sample-"},
		"does not wait for pods that have been pending for long": {
			given: onlyRunning(3, pendingFor(5*time.Minute)), hosts: first3, holds: "need the new cluster file first",
		},
		"waits for the youngest of the pending pods": {given: stagestest.All(onlyRunning(3, pendingFor(time.Hour)), func(s *plan.Snapshot) {
			g := s.Groups()[len(s.Groups())-1]
			g.ClearCondition(v1beta2.ConditionPodPending)
			g.SetCondition(v1beta2.ConditionPodPending, stagestest.Noon.Add(-4*time.Minute))
		}), holds: "pending"},
		"waits as long as the spec requires": {given: stagestest.All(onlyRunning(3, pendingFor(6*time.Minute)), func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.IgnorePendingPodsDuration = 7 * time.Minute
		}), holds: "pending"},
		"does not wait for pending pods that can be no coordinators": {given: func(s *plan.Snapshot) {
			for _, g := range s.Groups() {
				if g.ProcessClass == v1beta2.ProcessClassStateless {
					pendingFor(time.Second)(s, g)
				}
			}
		}, hosts: first3, holds: "need the new cluster file first"},
		"omits pods that have not reported their fault domain": {given: func(s *plan.Snapshot) {
			s.PodFiles[s.Groups()[0].PodName(s.Cluster)] = plan.PodReport{Unreachable: "timed out"}
		}, hosts: []string{"10.1.0.2:4501", "10.1.0.3:4501", "10.1.0.4:4501"}, holds: "need the new cluster file first"},
		"waits while too few have reported their fault domain": {given: func(s *plan.Snapshot) { s.PodFiles = nil }, holds: "only 0 of 3"},
		"leaves out pods without an address": {given: func(s *plan.Snapshot) {
			s.Pod(s.Groups()[1]).Status.PodIP = ""
		}, hosts: []string{"10.1.0.1:4501", "10.1.0.3:4501", "10.1.0.4:4501"}, holds: "need the new cluster file first"},
		"takes the classes that the spec prefers": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 1}}
		}, hosts: []string{"10.1.0.14:4501", "10.1.0.15:4501", "10.1.0.16:4501"}, holds: "need the new cluster file first"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := beforeTheClusterFile(t)
			tc.given(&s)
			d := GenerateInitialClusterFile.Decide(s)
			if diff := cmp.Diff(tc.hosts, hosts(t, d)); diff != "" {
				t.Errorf("coordinators (-want +got):\n%s", diff)
			}
			if got := stagestest.Reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if got := d.Hold != nil && d.Hold.Manual; got != tc.manual {
				t.Errorf("requires intervention: %t, want %t", got, tc.manual)
			}
			if d.Hold != nil && (d.Hold.Then == plan.StartOver) != (len(tc.hosts) > 0) {
				t.Errorf("starts over: %t after %v", d.Hold.Then == plan.StartOver, stagestest.Described(d))
			}
		})
	}
}

// Nine coordinators are desired, but the data hall of a pod is unknown before its process runs.
func TestThreeDataHallStartsWithThreeCoordinators(t *testing.T) {
	s := beforeTheClusterFile(t)
	s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
	if d := GenerateInitialClusterFile.Decide(s); len(d.Actions) > 0 || !strings.Contains(stagestest.Reason(d), "7 of 9 pods") {
		t.Errorf("with 7 pods: wants %v, holds with %q", stagestest.Described(d), stagestest.Reason(d))
	}
	for i := range 4 {
		id := s.Cluster.ProcessGroupIDFor(v1beta2.ProcessClassStorage, 200+i)
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassStorage}
		s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g)
		stagestest.GivePod(t, &s, g, 50+i)
	}
	if got := hosts(t, GenerateInitialClusterFile.Decide(s)); len(got) != 3 {
		t.Errorf("with 11 pods: the coordinators %v, want 3", got)
	}
}

func TestTheInitialConnectionStringUsesTheNamesOfTheSpec(t *testing.T) {
	tests := map[string]struct {
		partial v1beta2.ConnectionString
		want    string
	}{
		"by the cluster's name and a random ID": {want: `^sample_cluster_1:[0-9A-Za-z]{32}@`},
		"by the spec's database name":           {partial: v1beta2.ConnectionString{DatabaseName: "mine"}, want: `^mine:[0-9A-Za-z]{32}@`},
		"by the spec's generation ID":           {partial: v1beta2.ConnectionString{GenerationID: "abc"}, want: `^sample_cluster_1:abc@`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := beforeTheClusterFile(t)
			pods := map[string]string{}
			for _, g := range s.Groups() {
				pods[string(g.ProcessGroupID)] = g.PodName(s.Cluster)
			}
			s.Cluster.Spec.PartialConnectionString = tc.partial
			s.Cluster.Name = "sample-cluster-1"
			for _, g := range s.Groups() { // the pods are named after the cluster
				old, name := pods[string(g.ProcessGroupID)], g.PodName(s.Cluster)
				s.Pods[name], s.PodFiles[name] = s.Pods[old], s.PodFiles[old]
				s.Pods[name].Name = name
			}
			text := GenerateInitialClusterFile.Decide(s).Actions[0].(plan.SetConnectionString).ConnectionString
			if !regexp.MustCompile(tc.want).MatchString(text) {
				t.Errorf("got %s, want %s", text, tc.want)
			}
			s.Seed++
			again := GenerateInitialClusterFile.Decide(s).Actions[0].(plan.SetConnectionString).ConnectionString
			if (again == text) != (tc.partial.GenerationID != "") {
				t.Errorf("another pass names it %s after %s", again, text)
			}
		})
	}
}
