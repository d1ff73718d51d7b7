package cluster

import (
	"maps"
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

func TestChangeCoordinators(t *testing.T) {
	// The coordinators are the first three of four log processes: log-101 to log-103.
	recovered := func(seconds float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &seconds }
	}
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	// The first is the group of a coordinator: how long it has not reported, and the age of its pod.
	unresponsive := func(d time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { stagestest.UnresponsiveFor(s, s.Groups()[0], d) }
	}
	made := func(d time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Pod(s.Groups()[0]).CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-d))
		}
	}
	podless := func(d time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			g := s.Groups()[0]
			delete(s.Pods, g.PodName(s.Cluster))
			g.SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon.Add(-d))
		}
	}
	atRisk := func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false }
	lostOne := unresponsive(2 * time.Minute)
	excludedOne := func(s *plan.Snapshot) {
		yes := true
		stagestest.EditProcess(s, s.Groups()[0], func(p *fdb.Process) { p.Excluded = &yes })
	}
	const withoutFirst = "change coordinators to 10.1.0.2:4501 10.1.0.3:4501 10.1.0.4:4501 and store the new connection string"
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		does   []string
		holds  string
		manual bool
	}{
		"leaves good coordinators alone":                     {given: func(*plan.Snapshot) {}},
		"replaces one that does not report":                  {given: lostOne, does: []string{withoutFirst}},
		"waits two minutes before it replaces a missing one": {given: both(lostOne, recovered(119)), holds: "1m59s ago"},
		"replaces a missing one after two minutes":           {given: both(lostOne, recovered(120)), does: []string{withoutFirst}},
		"waits for one that has been missing for less than two minutes, however long ago the last recovery was": {
			given: unresponsive(2*time.Minute - time.Second), holds: "log-101 missing for 1m59s, 2m0s required",
		},
		"waits for one that no pass has missed yet": {
			given: func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Groups()[0]) }, holds: "log-101 does not report, since when is unknown",
		},
		"replaces one at once while one more loss would take the quorum": {given: both(unresponsive(time.Second), atRisk), does: []string{withoutFirst}},
		"waits for one whose pod was deleted to be recreated, even then": {
			given: both(unresponsive(time.Hour), atRisk, podless(119*time.Second)), holds: "log-101 lost its pod 1m59s ago",
		},
		"waits for one whose pod was deleted by this very pass": {
			given: both(atRisk, func(s *plan.Snapshot) {
				stagestest.DropProcess(s, s.Groups()[0])
				delete(s.Pods, "sample-log-101")
			}), holds: "log-101 has just lost its pod",
		},
		"waits for one whose pod terminates": {
			given: both(unresponsive(time.Hour), atRisk, func(s *plan.Snapshot) {
				s.Pods["sample-log-101"].DeletionTimestamp = new(metav1.NewTime(stagestest.Noon.Add(-119 * time.Second)))
			}), holds: "the pod of log-101 was due to terminate 1m59s ago",
		},
		"waits for one whose pod was just recreated":      {given: both(unresponsive(time.Hour), atRisk, made(119*time.Second)), holds: "the pod of log-101 was created 1m59s ago"},
		"replaces one whose pod was made and brings none": {given: both(unresponsive(time.Hour), made(120*time.Second)), does: []string{withoutFirst}},
		"replaces one whose pod is not created":           {given: both(unresponsive(time.Hour), podless(120*time.Second)), does: []string{withoutFirst}},
		"replaces one whose pod has another address by now": {
			given: both(unresponsive(time.Second), made(10*time.Second), stagestest.OnePod(func(p *corev1.Pod) {
				p.Status.PodIP, p.Status.PodIPs = "10.1.9.9", []corev1.PodIP{{IP: "10.1.9.9"}}
			})), does: []string{withoutFirst},
		},
		"replaces one whose group leaves for good": {
			given: both(unresponsive(time.Second), func(s *plan.Snapshot) {
				s.Groups()[0].MarkForRemoval(stagestest.Noon)
				s.Groups()[0].SetExcluded(stagestest.Noon)
			}), does: []string{withoutFirst},
		},
		"replaces one that is of no process group any more": {
			given: func(s *plan.Snapshot) {
				stagestest.DropProcess(s, s.Groups()[0])
				s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[1:]
			}, does: []string{withoutFirst},
		},
		"replaces one that is lost beside one that may come back": {
			given: func(s *plan.Snapshot) {
				stagestest.UnresponsiveFor(s, s.Groups()[0], time.Second)
				stagestest.UnresponsiveFor(s, s.Groups()[1], time.Hour)
			}, does: []string{"change coordinators to 10.1.0.3:4501 10.1.0.4:4501 10.1.0.14:4501 and store the new connection string"},
		},
		"replaces an excluded one":                               {given: excludedOne, does: []string{withoutFirst}},
		"waits five minutes before it replaces one that reports": {given: both(excludedOne, recovered(299)), holds: "4m59s ago"},
		"replaces one that is marked for removal": {
			given: func(s *plan.Snapshot) { s.Groups()[0].MarkForRemoval(stagestest.Noon) }, does: []string{withoutFirst},
		},
		"moves them apart when two share a fault domain": {
			given: func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
			}, does: []string{"change coordinators to 10.1.0.1:4501 10.1.0.3:4501 10.1.0.4:4501 and store the new connection string"},
		},
		"needs a human when too few fault domains are left": {
			given: func(s *plan.Snapshot) {
				for _, g := range s.Groups() {
					stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
				}
			}, holds: "no better coordinators are available", manual: true,
		},
		"needs none while one that may serve as another is starting": {
			given: func(s *plan.Snapshot) {
				for _, g := range s.Groups()[:len(s.Groups())-1] {
					stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
				}
				last := string(s.Groups()[len(s.Groups())-1].ProcessGroupID)
				maps.DeleteFunc(s.Database.Status.Cluster.Processes, func(_ string, p fdb.Process) bool { return p.InstanceID() == last })
			}, holds: "no better coordinators are available",
		},
		"waits while the database is locked by a restore": {
			given: both(excludedOne, func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }), holds: "locked",
		},
		"waits while the database is unavailable": {
			given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out",
		},
		"has nothing to do before there is a database": {
			given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false; lostOne(s) },
		},
		"prefers the classes that the spec lists": {
			given: both(lostOne, func(s *plan.Snapshot) {
				s.Cluster.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 1}}
			}), does: []string{"change coordinators to 10.1.0.14:4501 10.1.0.15:4501 10.1.0.16:4501 and store the new connection string"},
		},
		"takes a process on another version only as a last resort": {
			given: both(lostOne, func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[1], func(p *fdb.Process) { p.Version = "7.3.77" })
			}), does: []string{"change coordinators to 10.1.0.3:4501 10.1.0.4:4501 10.1.0.14:4501 and store the new connection string"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := ChangeCoordinators.Decide(s)
			if diff := cmp.Diff(tc.does, stagestest.Described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s\nholds with %q", diff, stagestest.Reason(d))
			}
			if got := stagestest.Reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if d.Hold != nil && d.Hold.Manual != tc.manual {
				t.Errorf("needs a human: %t, want %t", d.Hold.Manual, tc.manual)
			}
		})
	}
}

func TestCoordinatorsByDNSNameNeedNoChange(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Cluster.Spec.Routing.UseDNSInClusterFile = nil // the default: by name
	for i, g := range s.Groups() {
		name := g.DNSName(s.Cluster)
		stagestest.EditProcess(&s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityDNSName] = name })
		if i < 3 {
			s.Database.Status.Client.Coordinators.Coordinators[i].Address.FromHostname = true
		}
	}
	if d := ChangeCoordinators.Decide(s); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("wants %v and holds with %q, want nothing", stagestest.Described(d), stagestest.Reason(d))
	}
	s.Database.Status.Client.Coordinators.Coordinators[0].Address.FromHostname = false
	d := ChangeCoordinators.Decide(s)
	if len(d.Actions) != 1 || !strings.Contains(d.Actions[0].Describe(), "sample-log-101.sample.fdb.svc.cluster.local:4501") {
		t.Errorf("wants %v, want coordinators by name", stagestest.Described(d))
	}
}

// A user who moves coordinators off groups gets the same checks and waits as a pass.
func TestMoveCoordinators(t *testing.T) {
	const withoutFirst = "change coordinators to 10.1.0.2:4501 10.1.0.3:4501 10.1.0.4:4501 and store the new connection string"
	tests := map[string]struct {
		stagestest.RemovalCase
		away v1beta2.ProcessGroupID
	}{
		"moves them away from a group":            {stagestest.RemovalCase{From: stagestest.HealthyCluster, Does: []string{withoutFirst}}, "log-101"},
		"does nothing about a group that is none": {stagestest.RemovalCase{From: stagestest.HealthyCluster}, "log-104"},
		"waits five minutes, as a pass does":      {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: stagestest.RecoveredAgo(299), Holds: "must not be a coordinator)"}, "log-101"},
		"never to one that is marked for removal": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			for _, g := range s.Groups() {
				if g.ProcessGroupID != "log-101" && g.ProcessGroupID != "log-102" && g.ProcessGroupID != "log-103" {
					g.MarkForRemoval(stagestest.Noon)
				}
			}
		}, Holds: "no better coordinators are available"}, "log-101"},
		"not while the database is unavailable": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Database.Status.Client.DatabaseStatus.Available = false
		}, Holds: "cannot determine whether the coordinators are valid"}, "log-101"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, MoveCoordinators(tc.away)) })
	}
}
