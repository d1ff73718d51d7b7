package stages

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// leavingStorage returns a healthy cluster of four storage groups with three desired: storage-114 is
// marked for removal and its replacement reports.
func leavingStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	id := s.Cluster.ProcessGroupIDFor(v1beta2.ProcessClassStorage, 200)
	s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{podIP(17)}, FaultDomain: "node-17"})
	replacement := s.Groups()[len(s.Groups())-1]
	givePod(tb, &s, replacement, 17)
	addProcess(tb, s.Database.Status, s, replacement, 17)
	firstOf(s, v1beta2.ProcessClassStorage).MarkForRemoval(noon.Add(-time.Hour))
	s.Coordination.ExclusionsRead = true
	return s
}

// drainedStorage returns the same after the database has moved everything away.
func drainedStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := leavingStorage(tb)
	g := firstOf(s, v1beta2.ProcessClassStorage)
	yes := true
	editProcess(&s, g, func(p *fdb.Process) { p.Excluded = &yes })
	s.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{{Locality: g.ExclusionString()}}
	s.Coordination.Exclusions = []string{g.ExclusionString()}
	return s
}

type removalCase struct {
	from  func(testing.TB) plan.Snapshot
	given func(*plan.Snapshot)
	does  []string
	holds string
	// later is what is left to a later pass, and not waited for.
	later string
}

func (tc removalCase) check(t *testing.T, stage plan.Stage) {
	t.Helper()
	s := tc.from(t)
	if tc.given != nil {
		tc.given(&s)
	}
	d := stage.Decide(s)
	if diff := cmp.Diff(tc.does, described(d)); diff != "" {
		t.Errorf("actions (-want +got):\n%s\nholds with %q", diff, reason(d))
	}
	if got := reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
		t.Errorf("holds with %q, want %q", got, tc.holds)
	}
	explained(t, d)
	if got := laterWords(d); !strings.Contains(got, tc.later) || (tc.later == "") != (got == "") {
		t.Errorf("leaves %q to a later pass, want %q", got, tc.later)
	}
}

func laterWords(d plan.Decision) string {
	if d.Housekeeping == nil {
		return ""
	}
	return d.Housekeeping.Words()
}

func recoveredAgo(seconds float64) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &seconds }
}

// silentFor stops the reports of a group's process for a time.
func silentFor(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, d time.Duration) {
	dropProcess(s, g)
	g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-d))
}

func TestExcludeInstances(t *testing.T) {
	const byLocality = "exclude storage-114 (locality_instance_id:storage-114)"
	tests := map[string]removalCase{
		"excludes a group whose replacement reports": {from: leavingStorage, does: []string{byLocality}},
		"leaves a cluster alone that nothing leaves": {from: healthyCluster},
		"leaves a group alone that is excluded":      {from: drainedStorage},
		"excludes by address where localities are not to be used": {
			from: leavingStorage, given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool) },
			does: []string{"exclude storage-114 (10.1.0.14)"},
		},
		"excludes a group whose class is empty": {
			from: leavingStorage, given: func(s *plan.Snapshot) { firstOf(*s, v1beta2.ProcessClassStorage).ProcessClass = "" }, does: []string{byLocality},
		},
		"waits after a recovery": {from: leavingStorage, given: recoveredAgo(119), holds: "1m59s ago"},
		"waits while the replacement is starting": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Groups()[len(s.Groups())-1].SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
			}, holds: "storage-200 missing for 1m0s, may report again within 5m0s",
		},
		"waits for a replacement that was just created": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				created := s.Groups()[len(s.Groups())-1]
				created.FaultDomain = ""
				created.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Second))
			}, holds: "storage-200 was just created and has not reported yet",
		},
		"waits while a restore has the database locked": {
			from: leavingStorage, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked",
		},
		"waits while the database is unavailable": {
			from: leavingStorage, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out",
		},
		"never excludes a coordinator before coordinators have moved": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.1.0.14"
			}, holds: "storage-114 are coordinators; coordinators move first",
		},
		"drains no more than the redundancy tolerates": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				for _, g := range s.Groups() {
					if g.ProcessClass == v1beta2.ProcessClassStorage && g.ProcessGroupID != "storage-200" {
						g.MarkForRemoval(noon)
					}
				}
			}, // four up, one tolerated, three desired: two may be excluded
			does: []string{"exclude storage-114, storage-115 (locality_instance_id:storage-114 locality_instance_id:storage-115)"}, holds: "1 more process group waits",
		},
		"excludes by ID what never had an address": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
				firstOf(*s, v1beta2.ProcessClassStorage).Addresses = nil
			}, does: []string{byLocality},
		},
		"needs a user for a group that cannot be excluded": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Status.RunningVersion = "7.1.25"
				firstOf(*s, v1beta2.ProcessClassStorage).Addresses = nil
			}, holds: "storage-114 never had an address to exclude",
		},
		"does not count on groups that were excluded manually": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				for _, g := range s.Groups()[14:16] {
					g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Minute))
				}
			}, holds: "2 up + 1 tolerated − 3 desired",
		},
		"excludes one that has nothing to lose without any budget": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				firstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(noon)
				silentFor(s, firstOf(*s, v1beta2.ProcessClassStorage), 5*time.Minute)
			}, does: []string{byLocality}, holds: "1 more process group waits",
		},
		"waits for others even with one that has nothing to lose": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				for _, g := range s.Groups()[14:16] {
					g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, noon.Add(-time.Minute))
				}
				silentFor(s, firstOf(*s, v1beta2.ProcessClassStorage), time.Hour)
			}, holds: "1 up + 1 tolerated − 3 desired",
		},
		"counts no group as lost by an incomplete status document": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				firstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(noon)
				silentFor(s, firstOf(*s, v1beta2.ProcessClassStorage), time.Hour)
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}, holds: "the status document is incomplete",
		},
		"does not take one for lost that may come back": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				firstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(noon)
				silentFor(s, firstOf(*s, v1beta2.ProcessClassStorage), 5*time.Minute-time.Second)
			}, holds: "9 up + 1 tolerated − 12 desired",
		},
		"excludes nothing at all while a transaction class has no process to spare": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				firstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(noon)
			}, holds: "9 up + 1 tolerated − 12 desired",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, excludeInstances) })
	}
}

// goneStorage is the same after the group's objects were deleted.
func goneStorage(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := drainedStorage(tb)
	loseObjects(&s, firstOf(s, v1beta2.ProcessClassStorage))
	return s
}

// loseObjects deletes the objects of a drained group.
func loseObjects(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus) {
	delete(s.Pods, g.PodName(s.Cluster))
	delete(s.Volumes, g.PVCName(s.Cluster))
	dropProcess(s, g)
	g.SetExcluded(noon.Add(-time.Hour))
}

// reuseAddress gives the pod of a group a former address of another group; its process has not
// reported from there yet.
func reuseAddress(s *plan.Snapshot, id v1beta2.ProcessGroupID, ip string) {
	pod := s.Pod(s.Cluster.ProcessGroup(id))
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	dropProcess(s, s.Cluster.ProcessGroup(id))
}

func TestRemovePods(t *testing.T) {
	const (
		recorded = "mark as drained: storage-114"
		deleted  = "delete objects of storage-114: pod sample-storage-114, PVC sample-storage-114-data"
	)
	gone := func(s *plan.Snapshot) { loseObjects(s, firstOf(*s, v1beta2.ProcessClassStorage)) }
	tests := map[string]removalCase{
		"deletes a group that is drained":            {from: drainedStorage, does: []string{recorded, deleted}, holds: "until all objects are deleted"},
		"leaves a group alone that is not drained":   {from: leavingStorage, holds: "is not excluded"},
		"leaves a cluster alone that nothing leaves": {from: healthyCluster},
		"deletes nothing while a replica is missing": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				one := 1
				s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
			}, does: []string{recorded}, holds: "some data has 1 of 2 replicas, 2 required",
		},
		"deletes nothing while a storage process vanished a moment ago": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				s.Groups()[len(s.Groups())-2].SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
			}, does: []string{recorded}, holds: "stopped reporting 1m0s ago",
		},
		"leaves a minute between two removals": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				other := s.Groups()[len(s.Groups())-2]
				other.MarkForRemoval(noon)
				other.ExclusionSkipped = true
				other.SetExcluded(noon)
				other.SetCondition(v1beta2.ConditionResourcesTerminating, noon.Add(-30*time.Second))
			}, does: []string{recorded}, holds: "the next removal follows in 30s",
		},
		"deletes nothing because a lost status has no database": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Status.Configured = false
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, holds: "storage-114: no database status: timed out",
		},
		"deletes without a proof before there is a database": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Status.Configured = false
				s.Database.Status.Client.DatabaseStatus.Available = false
				s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryNeverCreated
				s.Database.Status.Client.Coordinators.Coordinators = nil
				s.Database.Status.Cluster.ConnectionString = ""
			}, does: []string{recorded, deleted}, holds: "until all objects are deleted",
		},
		"never deletes a coordinator": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.1.0.14"
			}, holds: "storage-114 is a coordinator",
		},
		"never deletes a pod that a user isolated": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true"
			}, does: []string{recorded}, holds: "is isolated",
		},
		"never deletes what the spec keeps": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.BlockRemoval = []v1beta2.ProcessGroupID{"storage-114"}
			}, holds: "blockRemoval",
		},
		"deletes without a proof only what was marked for that": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(noon)
			}, does: []string{deleted}, holds: "until all objects are deleted",
		},
		"deletes nothing without a proof while a zone is under maintenance, which no number shows to be down": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(noon)
				s.Database.Status.Cluster.MaintenanceZone = nodeName(15)
			}, holds: "a group that was not drained is removed only while no zone is under maintenance; zone node-15 is",
		},
		"deletes nothing without a proof while another pod was just deleted, whatever the status document shows": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(noon)
				delete(s.Pods, "sample-log-101")
			}, holds: "a group that was not drained is removed only while all others are settled: log-101 lost its pod a moment ago",
		},
		"deletes nothing without a proof while a process of another group has just started": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(noon)
				uptime(s, "log-101", 12*time.Second)
			}, holds: "log-101 started 12s ago, 1m30s required",
		},
		"deletes what is drained beside a process that has just started": {
			from: drainedStorage, given: func(s *plan.Snapshot) { uptime(s, "log-101", 12*time.Second) },
			does: []string{recorded, deleted}, holds: "until all objects are deleted",
		},
		"deletes nothing without a proof while another group does not report, for however long": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(noon)
				silentFor(s, s.Groups()[14], 72*time.Hour)
			}, holds: "a group that was not drained is removed only while all others with data report: storage-115",
		},
		"deletes what is drained beside a group that has to wait without a proof": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				firstOf(*s, v1beta2.ProcessClassStorage).SetExcluded(noon)
				undrained := s.Groups()[14]
				undrained.MarkForRemoval(noon)
				undrained.ExclusionSkipped = true
				undrained.SetExcluded(noon)
				silentFor(s, s.Groups()[15], 72*time.Hour)
			}, does: []string{deleted}, holds: "a group that was not drained is removed only while all others with data report: storage-116",
		},
		"waits while objects terminate": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				ends := metav1.NewTime(noon)
				s.Pods["sample-storage-114"].DeletionTimestamp = &ends
				s.Volumes["sample-storage-114-data"].DeletionTimestamp = &ends
				firstOf(*s, v1beta2.ProcessClassStorage).SetExcluded(noon)
			}, holds: "the objects of storage-114 are still terminating",
		},
		"lets no stuck group take another's turn": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				ends := metav1.NewTime(noon.Add(-time.Hour))
				stuck := s.Groups()[14]
				stuck.MarkForRemoval(noon.Add(-2 * time.Hour))
				stuck.SetExcluded(noon.Add(-2 * time.Hour))
				stuck.FaultDomain = "a-domain-that-sorts-first"
				stuck.SetCondition(v1beta2.ConditionResourcesTerminating, noon.Add(-time.Hour))
				dropProcess(s, stuck)
				c := s.Database.Status.Cluster.Configuration
				c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: stuck.ExclusionString()})
				s.Coordination.Exclusions = append(s.Coordination.Exclusions, stuck.ExclusionString())
				s.Pod(stuck).DeletionTimestamp = &ends
				s.Volumes[stuck.PVCName(s.Cluster)].DeletionTimestamp = &ends
			}, does: []string{recorded, deleted}, holds: "still terminating",
		},
		"never deletes what is another group's by its labels": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Labels[v1beta2.LabelProcessGroupID] = "east-storage-114"
			}, holds: "sample-storage-114 does not belong to storage-114 by its labels",
		},
		"deletes nothing on an old status document": {
			from: drainedStorage, given: func(s *plan.Snapshot) { s.Database.AsOf = noon.Add(-61 * time.Second) },
			does: []string{recorded}, holds: "an old status document: the status document is 1m1s old",
		},
		"ends the exclusion of a removed group, and forgets it": {
			from: drainedStorage, given: gone,
			does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"},
		},
		"ends all exclusions of all removed groups at once, and no others": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				log := firstOf(*s, v1beta2.ProcessClassLog)
				log.MarkForRemoval(noon.Add(-2 * time.Hour))
				loseObjects(s, log)
				s.Cluster.Status.ConnectionString = ""
				s.Database.Status.Client.Coordinators.Coordinators = nil
				s.Database.Status.Cluster.ConnectionString = ""
				c := s.Database.Status.Cluster.Configuration
				c.ExcludedServers = append(c.ExcludedServers,
					fdb.ExcludedServer{Locality: log.ExclusionString()}, fdb.ExcludedServer{Address: log.Addresses[0]}, fdb.ExcludedServer{Address: "10.9.9.9"})
			},
			does: []string{"include locality_instance_id:log-101 10.1.0.1 locality_instance_id:storage-114 and remove log-101, storage-114 from the status"},
		},
		"ends no exclusion while a PVC is left": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				s.Volumes[g.PVCName(s.Cluster)] = drainedStorage(t).Volumes[g.PVCName(s.Cluster)]
			}, does: []string{"delete objects of storage-114: PVC sample-storage-114-data"}, holds: "until all objects are deleted",
		},
		"ends no exclusion while a server of the group still runs": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["zombie"] = drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
			}, holds: "its process still runs at 10.1.0.14:4501 on node-14; end it there",
		},
		"ends no exclusion while a process at the group's address has not reported yet what it is": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
			}, holds: "it is unknown whether its process still runs: the process at 10.1.0.14:4501 does not report its process group yet; the exclusion stays",
		},
		"ends the exclusion while a live pod of another group has the group's address": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
			}, does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"},
		},
		"ends no exclusion while another pod with the group's address terminates": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
				s.Pod(s.Cluster.ProcessGroup("log-104")).DeletionTimestamp = new(noonTime())
			}, holds: "it is unknown whether its process still runs",
		},
		"ends no exclusion while another pod with the group's address does not run": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
				s.Pod(s.Cluster.ProcessGroup("log-104")).Status.Phase = corev1.PodFailed
			}, holds: "it is unknown whether its process still runs",
		},
		"ends no exclusion because of a pod that shares its node's address": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
				s.Pod(s.Cluster.ProcessGroup("log-104")).Spec.HostNetwork = true
			}, holds: "it is unknown whether its process still runs",
		},
		"ends the exclusion while a process of another group reports from the group's address": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4503}}
				editProcess(s, s.Cluster.ProcessGroup("log-104"), func(p *fdb.Process) { p.Address.Host = "10.1.0.14" })
			}, does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"},
		},
		"ends no exclusion while the group's own process reports from an address that another pod has": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["zombie"] = drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				reuseAddress(s, "log-104", "10.1.0.14")
			}, holds: "its process still runs at 10.1.0.14:4501 on node-14; end it there",
		},
		"names the process that reports its group before one that reports nothing": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				zombie := drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				zombie.Address.Port = 4503
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				s.Database.Status.Cluster.Processes["zombie"] = zombie
			}, holds: "its process still runs at 10.1.0.14:4503 on node-14; end it there",
		},
		"gives no advice about an unknown machine": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				zombie := drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				zombie.Locality = map[string]string{fdb.LocalityInstanceID: "storage-114"}
				s.Database.Status.Cluster.Processes["zombie"] = zombie
			}, holds: "its process still runs at 10.1.0.14:4501, on an unknown machine; the exclusion stays",
		},
		"ends no exclusion while the status document may lack servers": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}, holds: "cannot determine whether a process of storage-114 still runs",
		},
		"lets no server that still runs keep the exclusions of other groups": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["zombie"] = drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				log := s.Cluster.ProcessGroup("log-104")
				log.MarkForRemoval(noon.Add(-2 * time.Hour))
				loseObjects(s, log)
				c := s.Database.Status.Cluster.Configuration
				c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: log.ExclusionString()})
			},
			does:  []string{"include locality_instance_id:log-104 and remove log-104 from the status"},
			holds: "its process still runs at 10.1.0.14:4501",
		},
		"does not wait for a tester that the database still lists": {
			from: goneStorage, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["tester"] = drainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				firstOf(*s, v1beta2.ProcessClassStorage).ProcessClass = v1beta2.ProcessClassTest
				s.Database.Status.Cluster.Configuration.ExcludedServers = nil
			}, does: []string{"remove storage-114 from the status"},
		},
		"leaves the exclusion of a removed group to a later pass after a recovery": {
			from: drainedStorage, given: func(s *plan.Snapshot) { gone(s); recoveredAgo(599)(s) },
			later: "include locality_instance_id:storage-114 and remove storage-114 from the status, in 1s (last recovery 9m59s ago, 10m0s required)",
		},
		"leaves it to a later pass once processes had a minute to register again": {
			from: drainedStorage, given: func(s *plan.Snapshot) { gone(s); recoveredAgo(60)(s) }, later: "in 9m0s",
		},
		"waits while processes may still register after a recovery": {
			from: drainedStorage, given: func(s *plan.Snapshot) { gone(s); recoveredAgo(59)(s) }, holds: "59s ago",
		},
		"waits while the last recovery goes on": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				recoveredAgo(300)(s)
				s.Database.Status.Cluster.RecoveryState.Name = "accepting_commits"
			}, holds: "5m0s ago",
		},
		"waits while a restore has the database locked, however long ago the recovery": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				recoveredAgo(300)(s)
				s.Database.Status.Cluster.DatabaseLockState.Locked = true
			}, holds: "locked",
		},
		"waits for a server that still runs, however long ago the recovery": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				process := s.Database.Status.ProcessesOf("storage-114")[0]
				gone(s)
				recoveredAgo(300)(s)
				s.Database.Status.Cluster.Processes["zombie"] = process
			}, holds: "its process still runs",
		},
		"leaves one group to a later pass and waits for another": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				recoveredAgo(300)(s)
				s.Groups()[14].MarkForRemoval(noon)
			}, holds: "is not excluded", later: "include locality_instance_id:storage-114 and remove storage-114 from the status, in 5m0s",
		},
		"remembers a group while the database cannot be asked": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, holds: "in the status until the database reports",
		},
		"remembers a group while the database does not tell its exclusions": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				s.Database.Status.Cluster.Configuration = nil
			}, holds: "in the status until the database reports",
		},
		"forgets a group that was never excluded once the database shows its loss": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-90*time.Second))
				s.Database.Status.Cluster.Configuration.ExcludedServers = nil
			}, does: []string{"remove storage-114 from the status"},
		},
		"remembers a group that was not drained until the database shows its loss": {
			from: drainedStorage, given: func(s *plan.Snapshot) {
				gone(s)
				g := firstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-89*time.Second))
			}, holds: "storage-114 stopped reporting 1m29s ago",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, removePods) })
	}
}

func TestTheFaultDomainWithTheMostGroupsGoesFirst(t *testing.T) {
	s := drainedStorage(t)
	for _, id := range []v1beta2.ProcessGroupID{"stateless-105", "stateless-106", "stateless-107"} {
		g := s.Cluster.ProcessGroup(id)
		g.MarkForRemoval(noon)
		g.ExclusionSkipped = true
		g.SetExcluded(noon)
		g.FaultDomain = map[bool]v1beta2.FaultDomain{true: "a-small-one", false: "the-big-one"}[id == "stateless-105"]
	}
	var first []v1beta2.ProcessGroupID
	for _, a := range removePods.Decide(s).Actions {
		if deletion, ok := a.(plan.DeleteGroupObjects); ok {
			first = append(first, deletion.Group)
		}
	}
	if diff := cmp.Diff([]v1beta2.ProcessGroupID{"stateless-106", "stateless-107"}, first); diff != "" {
		t.Errorf("deleted first (-want +got):\n%s", diff)
	}
}

func TestOnlyOneFaultDomainIsRemovedAtATime(t *testing.T) {
	s := drainedStorage(t)
	for _, g := range s.Groups() {
		if g.ProcessClass != v1beta2.ProcessClassStateless {
			continue
		}
		g.MarkForRemoval(noon)
		g.ExclusionSkipped = true
		g.SetExcluded(noon)
	}
	domains := map[v1beta2.FaultDomain]bool{}
	for _, a := range removePods.Decide(s).Actions {
		if deletion, ok := a.(plan.DeleteGroupObjects); ok {
			domains[s.Cluster.ProcessGroup(deletion.Group).FaultDomain] = true
		}
	}
	if len(domains) != 1 {
		t.Errorf("deletes in %d fault domains at once", len(domains))
	}
}

// Two groups that were not drained may hold the only copies of some data between them, and the
// database takes more than a minute to notice the removal of one of them.
func TestGroupsThatWereNotDrainedGoOneFaultDomainAtATime(t *testing.T) {
	for _, mode := range []v1beta2.PodUpdateMode{v1beta2.PodUpdateModeZone, v1beta2.PodUpdateModeAll, v1beta2.PodUpdateModeProcessGroup} {
		t.Run(string(mode), func(t *testing.T) {
			s := healthyClusterOf(t, 5)
			s.Coordination.ExclusionsRead = true
			s.Cluster.Spec.AutomationOptions.RemovalMode = mode
			first, second := s.Groups()[16], s.Groups()[17]
			s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{first.ProcessGroupID, second.ProcessGroupID}
			var died time.Time
			for ; s.Now.Before(noon.Add(5 * time.Minute)); s.Now = s.Now.Add(10 * time.Second) {
				s.Database.AsOf = s.Now
				status, err := newStatus(s)
				if err != nil {
					t.Fatal(err)
				}
				s.Cluster.Status = status
				for _, a := range removePods.Decide(s).Actions {
					if forget, ok := a.(plan.IncludeAndForget); ok {
						s = forget.DropRecords(s)
					}
					deletion, ok := a.(plan.DeleteGroupObjects)
					if !ok {
						continue
					}
					if since := s.Now.Sub(died); !died.IsZero() && since < deathNoticed {
						t.Fatalf("%s goes %s after another", deletion.Group, since)
					}
					g := s.Cluster.ProcessGroup(deletion.Group)
					died = s.Now
					delete(s.Pods, g.PodName(s.Cluster))
					delete(s.Volumes, g.PVCName(s.Cluster))
					dropProcess(&s, g)
				}
			}
			if s.Cluster.ProcessGroup(first.ProcessGroupID) != nil || s.Cluster.ProcessGroup(second.ProcessGroupID) != nil {
				t.Error("after five minutes a group is still there")
			}
		})
	}
}

// deathNoticed is the longest time that FoundationDB 7.3.79 took to report a death, as recorded.
const deathNoticed = 70 * time.Second

func TestReplaceFailedPods(t *testing.T) {
	failed := func(id int, age time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Groups()[id].SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-age))
		}
	}
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	two := 2
	tests := map[string]removalCase{
		"leaves a healthy cluster alone":  {from: healthyCluster},
		"waits two hours":                 {from: healthyCluster, given: failed(13, 2*time.Hour)},
		"replaces what failed for longer": {from: healthyCluster, given: failed(13, 2*time.Hour+time.Second), does: []string{"mark for removal: storage-114"}},
		"replaces one at a time":          {from: healthyCluster, given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour)), does: []string{"mark for removal: storage-114"}, holds: "replacement of storage-115 waits"},
		"replaces as many at a time as allowed": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), failed(14, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.Replacements.MaxConcurrentReplacements = &two
			}), does: []string{"mark for removal: storage-114, storage-115"},
		},
		"counts removals that others asked for": {from: leavingStorage, given: failed(14, 3*time.Hour), holds: "replacement of storage-115 waits"},
		"waits while the database is unavailable": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), holds: "none is replaced",
		},
		"does nothing when switched off": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(bool) }),
		},
		"replaces nothing that may fail for longer than any duration has": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(math.MaxInt)
			}),
		},
		"leaves alone what crashes on purpose, in whatever container": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: "a", Targets: []v1beta2.ProcessGroupID{"storage-114"}}, {ContainerName: "b"}}
			}),
		},
		"leaves a zone under maintenance alone": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-14" }),
		},
		"never replaces for information only": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Groups()[13].SetCondition(v1beta2.ConditionIncorrectPodMetadata, noon.Add(-3*time.Hour))
			},
		},
		"replaces nothing while the database goes to another protocol, which a replacement speaks already": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }),
			holds: "none is replaced during the upgrade from version 7.3.79 to 7.4.6",
		},
		"replaces no group without a trace while something is missing": {
			from: healthyCluster, given: both(failed(13, 3*time.Hour), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
				s.Groups()[13].Addresses = nil
				s.Database.Status.Client.Coordinators.QuorumReachable = false
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, replaceFailedPods) })
	}
}

func TestChooseRemovals(t *testing.T) {
	tests := map[string]removalCase{
		"leaves a cluster alone that has what it wants": {from: healthyCluster},
		"marks what is too many": {
			from: healthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2 },
			does: []string{"mark for removal: storage-116"},
		},
		"marks a group first that does not report": {
			from: healthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2; dropProcess(s, s.Groups()[13]) },
			does: []string{"mark for removal: storage-114"},
		},
		"keeps those that are spread best": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				editProcess(s, s.Groups()[14], func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-14" })
			}, does: []string{"mark for removal: storage-115"},
		},
		"marks no group of a class that does not shrink, reporting or not": {
			from: healthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2; dropProcess(s, s.Groups()[0]) },
			does: []string{"mark for removal: storage-116"},
		},
		"does not count those that already leave": {from: leavingStorage},
		"waits while too few report to choose from": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				dropProcess(s, s.Groups()[13])
				dropProcess(s, s.Groups()[14])
			}, holds: "cannot choose which storage process groups stay",
		},
		"waits while the database is unavailable": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, holds: "timed out",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, chooseRemovals) })
	}
}
