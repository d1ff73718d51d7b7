package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	statusstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

func TestTheExclusionStage(t *testing.T) {
	const byLocality = "exclude storage-114 (locality_instance_id:storage-114)"
	tests := map[string]stagestest.RemovalCase{
		"excludes a group whose replacement reports": {From: stagestest.StorageMarkedForRemoval, Does: []string{byLocality}},
		"leaves a cluster alone that nothing leaves": {From: stagestest.HealthyCluster},
		"leaves a group alone that is excluded":      {From: stagestest.DrainedStorage},
		"excludes by address where localities are not to be used": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool) },
			Does: []string{"exclude storage-114 (10.1.0.14)"},
		},
		"excludes a group whose class is empty": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).ProcessClass = "" }, Does: []string{byLocality},
		},
		"leaves a group alone that the spec keeps": {From: stagestest.StorageMarkedForRemoval, Given: stagestest.Kept("storage-114")},
		"excludes a kept group whose PVC is deleted": {From: stagestest.StorageMarkedForRemoval, Given: stagestest.All(stagestest.Kept("storage-114"), func(s *plan.Snapshot) {
			s.Volumes["sample-storage-114-data"].DeletionTimestamp = new(stagestest.NoonTime())
		}), Does: []string{byLocality}},
		"counts no kept group as up until it is included": {
			From: stagestest.StorageMarkedForRemoval, Given: stagestest.All(stagestest.Kept("storage-114", "storage-115"),
				stagestest.Excluding("locality_instance_id:storage-114", "storage-114"), stagestest.Excluding("locality_instance_id:storage-115", "storage-115"),
				func(s *plan.Snapshot) {
					for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
						s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon)
					}
				}),
			Holds: "2 up + 1 tolerated − 3 desired − 0 draining = 0",
		},
		"waits after a recovery": {From: stagestest.StorageMarkedForRemoval, Given: stagestest.RecoveredAgo(119), Holds: "1m59s ago"},
		"waits while the replacement is starting": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Groups()[len(s.Groups())-1].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
			}, Holds: "storage-200 missing for 1m0s, may report again within 5m0s",
		},
		"waits for a replacement that was just created": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				created := s.Groups()[len(s.Groups())-1]
				created.FaultDomain = ""
				created.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Second))
			}, Holds: "storage-200 was just created and has not reported yet",
		},
		"waits while a restore has the database locked": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked",
		},
		"waits while the database is unavailable": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out",
		},
		"never excludes a coordinator before coordinators have moved": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.1.0.14"
			}, Holds: "storage-114 is a coordinator; coordinators move first",
		},
		"counts a group that only the list of exclusions has as draining": { // the status document is older
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				for _, id := range []v1beta2.ProcessGroupID{"storage-114", "storage-115", "storage-116"} {
					s.Cluster.ProcessGroup(id).MarkForRemoval(stagestest.Noon)
				}
				s.Coordination.ExclusionsRead = true
				s.Coordination.Exclusions = []string{"locality_instance_id:storage-114", "locality_instance_id:storage-115"}
			}, Holds: "4 up + 1 tolerated − 3 desired − 2 draining = 0",
		},
		"drains no more than the redundancy tolerates": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				for _, g := range s.Groups() {
					if g.ProcessClass == v1beta2.ProcessClassStorage && g.ProcessGroupID != "storage-200" {
						g.MarkForRemoval(stagestest.Noon)
					}
				}
			}, // four up, one tolerated, three desired: two may be excluded
			Does: []string{"exclude storage-114, storage-115 (locality_instance_id:storage-114 locality_instance_id:storage-115)"}, Holds: "1 more process group waits",
		},
		"excludes by ID what never had an address": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
				stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).Addresses = nil
			}, Does: []string{byLocality},
		},
		"needs a user for a group that cannot be excluded": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Status.RunningVersion = "7.1.25"
				stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).Addresses = nil
			}, Holds: "storage-114 never had an address to exclude",
		},
		"does not count on groups that were excluded manually": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				for _, g := range s.Groups()[14:16] {
					g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, stagestest.Noon.Add(-time.Minute))
				}
			}, Holds: "2 up + 1 tolerated − 3 desired",
		},
		"excludes one that has nothing to lose without any budget": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				stagestest.FirstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(stagestest.Noon)
				stagestest.UnresponsiveFor(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStorage), 5*time.Minute)
			}, Does: []string{byLocality}, Holds: "1 more process group waits",
		},
		"waits for others even with one that has nothing to lose": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				for _, g := range s.Groups()[14:16] {
					g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, stagestest.Noon.Add(-time.Minute))
				}
				stagestest.UnresponsiveFor(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStorage), time.Hour)
			}, Holds: "1 up + 1 tolerated − 3 desired",
		},
		"counts no group as lost by an incomplete status document": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				stagestest.FirstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(stagestest.Noon)
				stagestest.UnresponsiveFor(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStorage), time.Hour)
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}, Holds: "the status document is incomplete",
		},
		"does not take one for lost that may come back": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				stagestest.FirstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(stagestest.Noon)
				stagestest.UnresponsiveFor(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStorage), 5*time.Minute-time.Second)
			}, Holds: "9 up + 1 tolerated − 12 desired",
		},
		"excludes nothing at all while a transaction class has no process to spare": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Stateless = 12
				stagestest.FirstOf(*s, v1beta2.ProcessClassStateless).MarkForRemoval(stagestest.Noon)
			}, Holds: "9 up + 1 tolerated − 12 desired",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ExcludeInstances) })
	}
}

// One group waits for the others to report, and the drained one until its objects are deleted.
func TestARemovalNamesEachGroupThatWaitsOnce(t *testing.T) {
	s := stagestest.DrainedStorage(t)
	undrained := s.Groups()[14]
	for _, g := range []*v1beta2.ProcessGroupStatus{stagestest.FirstOf(s, v1beta2.ProcessClassStorage), undrained} {
		g.MarkForRemoval(stagestest.Noon)
		g.SetExcluded(stagestest.Noon)
	}
	undrained.ExclusionSkipped = true
	stagestest.UnresponsiveFor(&s, s.Groups()[15], 72*time.Hour)
	d := RemovePods.Decide(s)
	if d.Hold == nil || len(d.Actions) != 1 {
		t.Fatalf("%+v", d)
	}
	if diff := cmp.Diff([]string{"storage-115", "storage-114"}, d.Hold.Subjects); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}

// reuseAddress gives the pod of a group a former address of another group; its process has not
// reported from there yet.
func reuseAddress(s *plan.Snapshot, id v1beta2.ProcessGroupID, ip string) {
	pod := s.Pod(s.Cluster.ProcessGroup(id))
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	stagestest.DropProcess(s, s.Cluster.ProcessGroup(id))
}

func TestRemovePods(t *testing.T) {
	const (
		recorded = "mark as drained: storage-114"
		deleted  = "delete objects of storage-114: pod sample-storage-114, PVC sample-storage-114-data"
	)
	removed := func(s *plan.Snapshot) { stagestest.LoseObjects(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)) }
	tests := map[string]stagestest.RemovalCase{
		"deletes a group that is drained":            {From: stagestest.DrainedStorage, Does: []string{recorded, deleted}, Holds: "until all objects are deleted"},
		"leaves a group alone that is not drained":   {From: stagestest.StorageMarkedForRemoval, Holds: "is not excluded"},
		"leaves a cluster alone that nothing leaves": {From: stagestest.HealthyCluster},
		"deletes nothing while a replica is missing": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				one := 1
				s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
			}, Does: []string{recorded}, Holds: "some data has 1 of 2 replicas, 2 required",
		},
		"deletes nothing while a storage process vanished a moment ago": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				s.Groups()[len(s.Groups())-2].SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
			}, Does: []string{recorded}, Holds: "stopped reporting 1m0s ago",
		},
		"leaves a minute between two removals": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				other := s.Groups()[len(s.Groups())-2]
				other.MarkForRemoval(stagestest.Noon)
				other.ExclusionSkipped = true
				other.SetExcluded(stagestest.Noon)
				other.SetCondition(v1beta2.ConditionResourcesTerminating, stagestest.Noon.Add(-30*time.Second))
			}, Does: []string{recorded}, Holds: "the next removal follows in 30s",
		},
		"deletes nothing because a lost status has no database": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Status.Configured = false
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, Holds: "storage-114: no database status: timed out",
		},
		"deletes without a proof before there is a database": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				s.Cluster.Status.Configured = false
				s.Database.Status.Client.DatabaseStatus.Available = false
				s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryNeverCreated
				s.Database.Status.Client.Coordinators.Coordinators = nil
				s.Database.Status.Cluster.ConnectionString = ""
			}, Does: []string{recorded, deleted}, Holds: "until all objects are deleted",
		},
		"never deletes a coordinator": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Client.Coordinators.Coordinators[0].Address.Host = "10.1.0.14"
			}, Holds: "storage-114 is a coordinator",
		},
		"never deletes a pod that a user isolated": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true"
			}, Does: []string{recorded}, Holds: "is isolated",
		},
		"never deletes what the spec keeps": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.Buggify.BlockRemoval = []v1beta2.ProcessGroupID{"storage-114"}
			}, Holds: "blockRemoval",
		},
		"deletes nothing of a group that is to be kept": {From: stagestest.DrainedStorage, Given: stagestest.Kept("storage-114"), Holds: "storage-114 is kept by spec.cancelReplacementsForInstance"},
		"completes the removal of a kept group whose PVC is being deleted": {From: stagestest.DrainedStorage, Given: stagestest.All(stagestest.Kept("storage-114"), func(s *plan.Snapshot) {
			s.Volumes["sample-storage-114-data"].DeletionTimestamp = new(stagestest.NoonTime())
		}), Does: []string{recorded, "delete objects of storage-114: pod sample-storage-114"}, Holds: "until all objects are deleted"},
		"forgets a kept group whose objects are deleted": {From: stagestest.RemovableStorage, Given: stagestest.Kept("storage-114"), Does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"}},
		"deletes without a proof only what was marked for that": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
			}, Does: []string{deleted}, Holds: "until all objects are deleted",
		},
		"deletes nothing without a proof while it is unknown whether a zone is under maintenance": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
				stagestest.MaintenanceUnread(s)
			}, Holds: "a group that was not drained is removed only while no zone is under maintenance; the database does not report",
		},
		"deletes nothing without a proof while a zone is under maintenance, which no number shows to be down": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
				s.Database.Status.Cluster.MaintenanceZone = stagestest.NodeName(15)
			}, Holds: "a group that was not drained is removed only while no zone is under maintenance; zone node-15 is",
		},
		"deletes nothing without a proof while another pod was just deleted, whatever the status document shows": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
				delete(s.Pods, "sample-log-101")
			}, Holds: "a group that was not drained is removed only while all others are settled: log-101 lost its pod a moment ago",
		},
		"deletes nothing without a proof while a process of another group has just started": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
				stagestest.Uptime(s, "log-101", 12*time.Second)
			}, Holds: "log-101 started 12s ago, 1m30s required",
		},
		"deletes what is drained beside a process that has just started": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "log-101", 12*time.Second) },
			Does: []string{recorded, deleted}, Holds: "until all objects are deleted",
		},
		"deletes nothing without a proof while another group does not report, for however long": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetExcluded(stagestest.Noon)
				stagestest.UnresponsiveFor(s, s.Groups()[14], 72*time.Hour)
			}, Holds: "a group that was not drained is removed only while all others with data report: storage-115",
		},
		"deletes what is drained beside a group that has to wait without a proof": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).SetExcluded(stagestest.Noon)
				undrained := s.Groups()[14]
				undrained.MarkForRemoval(stagestest.Noon)
				undrained.ExclusionSkipped = true
				undrained.SetExcluded(stagestest.Noon)
				stagestest.UnresponsiveFor(s, s.Groups()[15], 72*time.Hour)
			}, Does: []string{deleted}, Holds: "a group that was not drained is removed only while all others with data report: storage-116",
		},
		"waits while objects terminate": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				ends := metav1.NewTime(stagestest.Noon)
				s.Pods["sample-storage-114"].DeletionTimestamp = &ends
				s.Volumes["sample-storage-114-data"].DeletionTimestamp = &ends
				stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).SetExcluded(stagestest.Noon)
			}, Holds: "the objects of storage-114 are still terminating",
		},
		"lets no stuck group take another's turn": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				ends := metav1.NewTime(stagestest.Noon.Add(-time.Hour))
				stuck := s.Groups()[14]
				stuck.MarkForRemoval(stagestest.Noon.Add(-2 * time.Hour))
				stuck.SetExcluded(stagestest.Noon.Add(-2 * time.Hour))
				stuck.FaultDomain = "a-domain-that-sorts-first"
				stuck.SetCondition(v1beta2.ConditionResourcesTerminating, stagestest.Noon.Add(-time.Hour))
				stagestest.DropProcess(s, stuck)
				c := s.Database.Status.Cluster.Configuration
				c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: stuck.ExclusionString()})
				s.Coordination.Exclusions = append(s.Coordination.Exclusions, stuck.ExclusionString())
				s.Pod(stuck).DeletionTimestamp = &ends
				s.Volumes[stuck.PVCName(s.Cluster)].DeletionTimestamp = &ends
			}, Does: []string{recorded, deleted}, Holds: "pod sample-storage-115 does not terminate for 60m on node node-15",
		},
		"never deletes what is another group's by its labels": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Labels[v1beta2.LabelProcessGroupID] = "east-storage-114"
			}, Holds: "sample-storage-114 does not belong to storage-114 by its labels",
		},
		"deletes nothing on an old status document": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { s.Database.AsOf = stagestest.Noon.Add(-61 * time.Second) },
			Does: []string{recorded}, Holds: "an old status document: the status document is 1m1s old",
		},
		"ends the exclusion of a removed group, and forgets it": {
			From: stagestest.DrainedStorage, Given: removed,
			Does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"},
		},
		"ends all exclusions of all removed groups at once, and no others": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				log := stagestest.FirstOf(*s, v1beta2.ProcessClassLog)
				log.MarkForRemoval(stagestest.Noon.Add(-2 * time.Hour))
				stagestest.LoseObjects(s, log)
				s.Cluster.Status.ConnectionString = ""
				s.Database.Status.Client.Coordinators.Coordinators = nil
				s.Database.Status.Cluster.ConnectionString = ""
				c := s.Database.Status.Cluster.Configuration
				c.ExcludedServers = append(c.ExcludedServers,
					fdb.ExcludedServer{Locality: log.ExclusionString()}, fdb.ExcludedServer{Address: log.Addresses[0]}, fdb.ExcludedServer{Address: "10.9.9.9"})
			},
			Does: []string{"include locality_instance_id:log-101 10.1.0.1 locality_instance_id:storage-114 and remove log-101, storage-114 from the status"},
		},
		"ends no exclusion while a PVC is left": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				s.Volumes[g.PVCName(s.Cluster)] = stagestest.DrainedStorage(t).Volumes[g.PVCName(s.Cluster)]
			}, Does: []string{"delete objects of storage-114: PVC sample-storage-114-data"}, Holds: "until all objects are deleted",
		},
		"ends no exclusion while a server of the group still runs": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["zombie"] = stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
			}, Holds: "its process still runs at 10.1.0.14:4501 on node-14; end it there",
		},
		"ends no exclusion while a process at the group's address has not reported yet what it is": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
			}, Holds: "it is unknown whether its process still runs: the process at 10.1.0.14:4501 does not report its process group yet; the exclusion stays",
		},
		"ends the exclusion while a live pod of another group has the group's address": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
			}, Does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"},
		},
		"ends no exclusion while another pod with the group's address terminates": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
				s.Pod(s.Cluster.ProcessGroup("log-104")).DeletionTimestamp = new(stagestest.NoonTime())
			}, Holds: "it is unknown whether its process still runs",
		},
		"ends no exclusion while another pod with the group's address does not run": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
				s.Pod(s.Cluster.ProcessGroup("log-104")).Status.Phase = corev1.PodFailed
			}, Holds: "it is unknown whether its process still runs",
		},
		"ends no exclusion because of a pod that shares its node's address": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				reuseAddress(s, "log-104", "10.1.0.14")
				s.Pod(s.Cluster.ProcessGroup("log-104")).Spec.HostNetwork = true
			}, Holds: "it is unknown whether its process still runs",
		},
		"ends the exclusion while a process of another group reports from the group's address": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4503}}
				stagestest.EditProcess(s, s.Cluster.ProcessGroup("log-104"), func(p *fdb.Process) { p.Address.Host = "10.1.0.14" })
			}, Does: []string{"include locality_instance_id:storage-114 and remove storage-114 from the status"},
		},
		"ends no exclusion while the group's own process reports from an address that another pod has": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["zombie"] = stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				reuseAddress(s, "log-104", "10.1.0.14")
			}, Holds: "its process still runs at 10.1.0.14:4501 on node-14; end it there",
		},
		"names the process that reports its group before one that reports nothing": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				zombie := stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				zombie.Address.Port = 4503
				s.Database.Status.Cluster.Processes["nameless"] = fdb.Process{Address: fdb.Address{Host: "10.1.0.14", Port: 4501}}
				s.Database.Status.Cluster.Processes["zombie"] = zombie
			}, Holds: "its process still runs at 10.1.0.14:4503 on node-14; end it there",
		},
		"gives no advice about an unknown machine": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				zombie := stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				zombie.Locality = map[string]string{fdb.LocalityInstanceID: "storage-114"}
				s.Database.Status.Cluster.Processes["zombie"] = zombie
			}, Holds: "its process still runs at 10.1.0.14:4501, on an unknown machine; the exclusion stays",
		},
		"ends no exclusion while the status document may lack servers": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: "status_incomplete_timeout"})
			}, Holds: "cannot determine whether a process of storage-114 still runs",
		},
		"lets no server that still runs keep the exclusions of other groups": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["zombie"] = stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				log := s.Cluster.ProcessGroup("log-104")
				log.MarkForRemoval(stagestest.Noon.Add(-2 * time.Hour))
				stagestest.LoseObjects(s, log)
				c := s.Database.Status.Cluster.Configuration
				c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: log.ExclusionString()})
			},
			Does:  []string{"include locality_instance_id:log-104 and remove log-104 from the status"},
			Holds: "its process still runs at 10.1.0.14:4501",
		},
		"does not wait for a tester that the database still lists": {
			From: stagestest.RemovableStorage, Given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Processes["tester"] = stagestest.DrainedStorage(t).Database.Status.ProcessesOf("storage-114")[0]
				stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).ProcessClass = v1beta2.ProcessClassTest
				s.Database.Status.Cluster.Configuration.ExcludedServers = nil
			}, Does: []string{"remove storage-114 from the status"},
		},
		"leaves the exclusion of a removed group to a later pass after a recovery": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { removed(s); stagestest.RecoveredAgo(599)(s) },
			Later: "include locality_instance_id:storage-114 and remove storage-114 from the status, in 1s (last recovery 9m59s ago, 10m0s required)",
		},
		"leaves it to a later pass once processes had a minute to register again": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { removed(s); stagestest.RecoveredAgo(60)(s) }, Later: "in 9m0s",
		},
		"waits while processes may still register after a recovery": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { removed(s); stagestest.RecoveredAgo(59)(s) }, Holds: "59s ago",
		},
		"waits while the last recovery goes on": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				stagestest.RecoveredAgo(300)(s)
				s.Database.Status.Cluster.RecoveryState.Name = "accepting_commits"
			}, Holds: "5m0s ago",
		},
		"waits while a restore has the database locked, however long ago the recovery": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				stagestest.RecoveredAgo(300)(s)
				s.Database.Status.Cluster.DatabaseLockState.Locked = true
			}, Holds: "locked",
		},
		"waits for a server that still runs, however long ago the recovery": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				process := s.Database.Status.ProcessesOf("storage-114")[0]
				removed(s)
				stagestest.RecoveredAgo(300)(s)
				s.Database.Status.Cluster.Processes["zombie"] = process
			}, Holds: "its process still runs",
		},
		"leaves one group to a later pass and waits for another": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				stagestest.RecoveredAgo(300)(s)
				s.Groups()[14].MarkForRemoval(stagestest.Noon)
			}, Holds: "is not excluded", Later: "include locality_instance_id:storage-114 and remove storage-114 from the status, in 5m0s",
		},
		"remembers a group while the database cannot be asked": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, Holds: "in the status until the database reports",
		},
		"remembers a group while the database does not tell its exclusions": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				s.Database.Status.Cluster.Configuration = nil
			}, Holds: "in the status until the database reports",
		},
		"forgets a group that was never excluded once the database shows its loss": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-90*time.Second))
				s.Database.Status.Cluster.Configuration.ExcludedServers = nil
			}, Does: []string{"remove storage-114 from the status"},
		},
		"remembers a group that was not drained until the database shows its loss": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) {
				removed(s)
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				g.ExclusionSkipped = true
				g.SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-89*time.Second))
			}, Holds: "storage-114 stopped reporting 1m29s ago",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, RemovePods) })
	}
}

func TestTheFaultDomainWithTheMostGroupsIsRemovedFirst(t *testing.T) {
	s := stagestest.DrainedStorage(t)
	for _, id := range []v1beta2.ProcessGroupID{"stateless-105", "stateless-106", "stateless-107"} {
		g := s.Cluster.ProcessGroup(id)
		g.MarkForRemoval(stagestest.Noon)
		g.ExclusionSkipped = true
		g.SetExcluded(stagestest.Noon)
		g.FaultDomain = map[bool]v1beta2.FaultDomain{true: "a-small-one", false: "the-big-one"}[id == "stateless-105"]
	}
	var first []v1beta2.ProcessGroupID
	for _, a := range RemovePods.Decide(s).Actions {
		if deletion, ok := a.(plan.DeleteGroupObjects); ok {
			first = append(first, deletion.Group)
		}
	}
	if diff := cmp.Diff([]v1beta2.ProcessGroupID{"stateless-106", "stateless-107"}, first); diff != "" {
		t.Errorf("deleted first (-want +got):\n%s", diff)
	}
}

func TestOnlyOneFaultDomainIsRemovedAtATime(t *testing.T) {
	s := stagestest.DrainedStorage(t)
	for _, g := range s.Groups() {
		if g.ProcessClass != v1beta2.ProcessClassStateless {
			continue
		}
		g.MarkForRemoval(stagestest.Noon)
		g.ExclusionSkipped = true
		g.SetExcluded(stagestest.Noon)
	}
	domains := map[v1beta2.FaultDomain]bool{}
	for _, a := range RemovePods.Decide(s).Actions {
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
func TestUndrainedGroupsAreRemovedOneFaultDomainAtATime(t *testing.T) {
	for _, mode := range []v1beta2.PodUpdateMode{v1beta2.PodUpdateModeZone, v1beta2.PodUpdateModeAll, v1beta2.PodUpdateModeProcessGroup} {
		t.Run(string(mode), func(t *testing.T) {
			s := stagestest.HealthyClusterOf(t, 5)
			s.Coordination.ExclusionsRead = true
			s.Cluster.Spec.AutomationOptions.RemovalMode = mode
			first, second := s.Groups()[16], s.Groups()[17]
			s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{first.ProcessGroupID, second.ProcessGroupID}
			var died time.Time
			for ; s.Now.Before(stagestest.Noon.Add(5 * time.Minute)); s.Now = s.Now.Add(10 * time.Second) {
				s.Database.AsOf = s.Now
				status, err := statusstages.NewStatus(s)
				if err != nil {
					t.Fatal(err)
				}
				s.Cluster.Status = status
				for _, a := range RemovePods.Decide(s).Actions {
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
					stagestest.DropProcess(&s, g)
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
