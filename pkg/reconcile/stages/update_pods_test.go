package stages

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// outdatedStorage returns a healthy cluster whose three storage pods, and one log pod, were created
// from another spec; storage-114 and storage-115 share a fault domain.
func outdatedStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage || g.ProcessGroupID == "log-101" {
			s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
		}
	}
	shareZone(&s, "storage-115", nodeName(14))
	return s
}

// shareZone moves a group's pod to another fault domain.
func shareZone(s *plan.Snapshot, id v1beta2.ProcessGroupID, zone string) {
	g := s.Cluster.ProcessGroup(id)
	g.FaultDomain = v1beta2.FaultDomain(zone)
	s.PodFiles[g.PodName(s.Cluster)].Variables[v1beta2.EnvZoneID] = zone
}

// wantedHash returns the hash of the current spec of a group's pod.
func wantedHash(tb testing.TB, s plan.Snapshot, id v1beta2.ProcessGroupID) string {
	tb.Helper()
	hash, err := objects.NewSpecHashes(s.Cluster).Of(s.Cluster.ProcessGroup(id))
	if err != nil {
		tb.Fatal(err)
	}
	return hash
}

func withMaintenance(s *plan.Snapshot) {
	yes := true
	s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = &yes
}

func TestUpdatePods(t *testing.T) {
	const (
		oneZone     = "recreate pods: sample-storage-114, sample-storage-115"
		theOther    = "recreate pods: sample-storage-116"
		onePod      = "recreate pods: sample-storage-114"
		maintenance = "set maintenance mode of zone node-14 for 10m0s, to restart storage-114, storage-115"
	)
	storage := func(s *plan.Snapshot, id v1beta2.ProcessGroupID) *v1beta2.ProcessGroupStatus {
		return s.Cluster.ProcessGroup(id)
	}
	mode := func(mode v1beta2.PodUpdateMode) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.DeletionMode = mode }
	}
	tests := map[string]removalCase{
		"leaves pods alone that match the spec":              {from: healthyCluster},
		"recreates the pods of one fault domain":             {from: outdatedStorage, does: []string{oneZone}, holds: "1 remaining"},
		"recreates one pod where the spec wants it that way": {from: outdatedStorage, given: mode(v1beta2.PodUpdateModeProcessGroup), does: []string{onePod}, holds: "2 remaining"},
		"recreates all at once where the spec wants it that way": {
			from: outdatedStorage, given: mode(v1beta2.PodUpdateModeAll),
			does: []string{"recreate pods: sample-storage-114, sample-storage-115, sample-storage-116"}, holds: "0 remaining",
		},
		"needs a user to delete them where the spec wants it that way": {from: outdatedStorage, given: mode(v1beta2.PodUpdateModeNone), holds: "delete these pods manually"},
		"leaves logs to be replaced, and recreates them where the spec wants that": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
			}, does: []string{"recreate pods: sample-log-101"}, holds: "3 remaining",
		},
		"leaves all to be replaced where the spec wants that": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyReplace
			},
		},
		"does not touch a group that leaves": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				storage(s, "storage-114").MarkForRemoval(noon)
				storage(s, "storage-115").MarkForRemoval(noon)
			}, does: []string{theOther}, holds: "0 remaining",
		},
		"waits while a pod vanished a moment ago, although all still looks complete": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				delete(s.Pods, "sample-storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingPod, noon.Add(-89*time.Second))
			}, holds: "storage-116 lost its pod a moment ago",
		},
		"waits while a pod terminates": {
			from: outdatedStorage, given: func(s *plan.Snapshot) { s.Pods["sample-storage-116"].DeletionTimestamp = new(noonTime()) },
			holds: "storage-116 has a terminating pod",
		},
		"waits for a pod that this pass created, whatever the clock shows": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingPod, noon.Add(-time.Hour))
				dropProcess(s, storage(s, "storage-116"))
			}, holds: "storage-116 has a pod that this pass created",
		},
		"waits for the pod of a group that leaves and still holds data": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				storage(s, "storage-116").MarkForRemoval(noon)
				s.Pods["sample-storage-116"].DeletionTimestamp = new(noonTime())
			}, holds: "storage-116 has a terminating pod",
		},
		"waits while a group that leaves and still holds data died a moment ago": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				storage(s, "storage-116").MarkForRemoval(noon)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Second))
			}, holds: "storage-116 stopped reporting 1s ago",
		},
		"waits until the processes of a new pod report": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].CreationTimestamp = metav1.NewTime(noon.Add(-30 * time.Second))
				dropProcess(s, storage(s, "storage-116"))
			}, holds: "storage-116 has a new pod whose processes do not report yet",
		},
		"does not take the processes of the pod before for those of a new one": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].CreationTimestamp = metav1.NewTime(noon.Add(-30 * time.Second))
			}, holds: "older (1h0m0s) than its pod (30s)",
		},
		"does not take a process at another address for the pod's own, whatever the clocks say": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].Status.PodIP, s.Pods["sample-storage-116"].Status.PodIPs = "10.9.9.9", nil
			}, holds: "storage-116 has a process at 10.1.0.16, which its pod does not have",
		},
		"waits while the database is not fully fault tolerant": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				one := 1
				s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
			}, holds: "some data has 1 of 2 replicas, 2 required",
		},
		"waits while a storage process died a moment ago": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
			}, holds: "storage-116 stopped reporting 1m0s ago",
		},
		"stops at a pod that has the current spec and does not report again": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = wantedHash(t, *s, "storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Hour))
				dropProcess(s, storage(s, "storage-116"))
			}, holds: "the update stops while processes with the new spec do not report: storage-116",
		},
		"takes all down beside a pod that does not come back where the spec wants it that way": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				mode(v1beta2.PodUpdateModeAll)(s)
				s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = wantedHash(t, *s, "storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Hour))
				dropProcess(s, storage(s, "storage-116"))
			}, does: []string{oneZone}, holds: "0 remaining",
		},
		"begins with the fault domain that is down already": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Hour))
				dropProcess(s, storage(s, "storage-116"))
			}, does: []string{theOther}, holds: "2 remaining",
		},
		"waits while a storage process of another fault domain has just started": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = wantedHash(t, *s, "storage-116")
				uptime(s, "storage-116", 12*time.Second)
			}, holds: "none may go down now: storage-116 started 12s ago, 1m30s required",
		},
		"waits while a log process has just started": {
			from: outdatedStorage, given: func(s *plan.Snapshot) { uptime(s, "log-101", 89*time.Second) },
			holds: "log-101 started 1m29s ago, 1m30s required",
		},
		"goes on beside a process that has been up for as long as a death takes to show": {
			from: outdatedStorage, given: func(s *plan.Snapshot) { uptime(s, "log-101", 90*time.Second) }, does: []string{oneZone}, holds: "1 remaining",
		},
		"takes a process of unknown age for one that has just started": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				editProcess(s, storage(s, "log-101"), func(p *fdb.Process) { p.UptimeSeconds = nil })
			}, holds: "log-101 started at an unknown time, 1m30s required",
		},
		"recreates the pod of a process that crashes in a loop": {
			from: outdatedStorage, given: func(s *plan.Snapshot) { uptime(s, "storage-116", 12*time.Second) }, does: []string{theOther}, holds: "2 remaining",
		},
		"recreates all at once beside a process that has just started": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				mode(v1beta2.PodUpdateModeAll)(s)
				uptime(s, "storage-116", 12*time.Second)
			}, does: []string{"recreate pods: sample-storage-114, sample-storage-115, sample-storage-116"}, holds: "0 remaining",
		},
		"recreates what keeps nothing beside a process that has just started": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				s.Pod(firstOf(*s, v1beta2.ProcessClassStateless)).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
				uptime(s, "storage-116", 12*time.Second)
			}, does: []string{"recreate pods: sample-stateless-105"}, holds: "0 remaining",
		},
		"deletes nothing on an old status document":     {from: outdatedStorage, given: func(s *plan.Snapshot) { s.Database.AsOf = noon.Add(-2 * time.Minute) }, holds: "the status document is"},
		"deletes nothing after the clock was set back":  {from: outdatedStorage, given: func(s *plan.Snapshot) { s.Database.AsOf = noon.Add(time.Minute) }, holds: "the status document is"},
		"waits while a restore has the database locked": {from: outdatedStorage, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked"},
		"waits while the database is unavailable":       {from: outdatedStorage, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
		"omits a pod that does not report its zone":     {from: outdatedStorage, given: func(s *plan.Snapshot) { delete(s.PodFiles, "sample-storage-114") }, does: []string{"recreate pods: sample-storage-115"}, holds: "1 remaining"},
		"leaves a pod out that cannot start": {from: outdatedStorage, given: func(s *plan.Snapshot) {
			storage(s, "storage-116").SetCondition(v1beta2.ConditionPodPending, noon.Add(-time.Hour))
		}, does: []string{oneZone}, holds: "0 remaining"},
		"waits for the end of an incompatible upgrade": {from: outdatedStorage, given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }, holds: "until all processes run 7.4.6"},
		"waits for the end of a change to or from TLS": {from: outdatedStorage, given: func(s *plan.Snapshot) { s.Cluster.Status.RequiredAddresses.TLS = true }, holds: "until the conversion to or from TLS is over"},
		"leaves a pod to the replacement of its group": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Spec.NodeSelector = map[string]string{"disk": "slow"}
			}, does: []string{"recreate pods: sample-storage-115"}, holds: "1 remaining",
		},
		"announces maintenance before the zone goes down": {from: outdatedStorage, given: withMaintenance, does: []string{maintenance, oneZone}, holds: "1 remaining"},
		"goes on in the zone that is under maintenance": {
			from: outdatedStorage, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-16" }, does: []string{theOther}, holds: "2 remaining",
		},
		"waits while another zone is under maintenance": {
			from: outdatedStorage, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-1" }, holds: "zone node-1 is under maintenance",
		},
		"lets no log go down beside a zone under maintenance": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				s.Pods["sample-log-101"].Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
				s.Database.Status.Cluster.MaintenanceZone = "node-14"
			}, holds: "zone node-14 is under maintenance",
		},
		"lets what keeps nothing go down beside a zone under maintenance": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				g := firstOf(*s, v1beta2.ProcessClassStateless)
				s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
				s.Database.Status.Cluster.MaintenanceZone = "node-14"
			}, does: []string{"recreate pods: sample-stateless-105"}, holds: "0 remaining",
		},
		"takes no second zone down beside one that is unavailable": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.MaxZonesWithUnavailablePods = new(1)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-time.Hour))
			}, does: []string{theOther}, holds: "2 remaining",
		},
		"takes nothing down where too many zones are unavailable": {
			from: outdatedStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.MaxZonesWithUnavailablePods = new(1)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-time.Hour))
				storage(s, "storage-114").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-time.Hour))
			}, holds: "2 fault domains have unavailable pods",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, updatePods(Options{})) })
	}
}

// Without the lock two control-plane instances could each take a fault domain down at the same time.
func TestPodsGoDownUnderTheLockUnlessAllGo(t *testing.T) {
	for mode, want := range map[v1beta2.PodUpdateMode]bool{v1beta2.PodUpdateModeZone: true, v1beta2.PodUpdateModeProcessGroup: true, v1beta2.PodUpdateModeAll: false} {
		s := outdatedStorage(t)
		s.Cluster.Spec.AutomationOptions.DeletionMode = mode
		d := updatePods(Options{}).Decide(s)
		if len(d.Actions) != 1 || plan.EffectOf(d.Actions[0]).Locked != want {
			t.Errorf("%s: %v, want the lock needed: %t", mode, described(d), want)
		}
	}
}

// Whatever pods are outdated, one decision never affects two fault domains.
func TestOneDecisionTakesDownOneFaultDomain(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		s := outdatedStorage(t)
		for i, g := range s.Groups() {
			s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = strings.Repeat("x", 1+(seed>>(i%7))&1)
			shareZone(&s, g.ProcessGroupID, nodeName((i*seed)%5))
		}
		s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
		zones := map[string]bool{}
		for _, a := range updatePods(Options{}).Decide(s).Actions {
			if deletion, ok := a.(plan.DeletePods); ok {
				for _, pod := range deletion.Pods {
					zones[s.PodFiles[pod.Name].Variables[v1beta2.EnvZoneID]] = true
				}
			}
		}
		if len(zones) != 1 {
			t.Fatalf("seed %d: %v", seed, zones)
		}
	}
}

func TestAProcessThatIsYoungerThanItsPodIsBack(t *testing.T) {
	s := outdatedStorage(t)
	s.Pods["sample-storage-116"].CreationTimestamp = metav1.NewTime(noon.Add(-30 * time.Second))
	editProcess(&s, s.Cluster.ProcessGroup("storage-116"), func(p *fdb.Process) { p.UptimeSeconds = new(10.0) })
	// only its own fault domain may go down with it
	if diff := cmp.Diff([]string{"recreate pods: sample-storage-116"}, described(updatePods(Options{}).Decide(s))); diff != "" {
		t.Error(diff)
	}
}

// A pass with a retry time waits once, instead of checking every few seconds.
func TestAnUpdateComesBackWhenAProcessIsOldEnough(t *testing.T) {
	s := outdatedStorage(t)
	uptime(&s, "log-101", 12*time.Second)
	if d := updatePods(Options{}).Decide(s); d.Hold == nil || d.Hold.RetryAfter != 78*time.Second || d.Hold.Human {
		t.Errorf("%+v", d.Hold)
	}
}
