package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// desiredHash returns the hash of the current spec of a group's pod.
func desiredHash(tb testing.TB, s plan.Snapshot, id v1beta2.ProcessGroupID) string {
	tb.Helper()
	hash, err := objects.NewSpecHashes(s.Cluster).Of(s.Cluster.ProcessGroup(id))
	if err != nil {
		tb.Fatal(err)
	}
	return hash
}

// going deletes the PVCs of process groups whose pods run.
func going(ids ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, id := range ids {
			s.Volumes[s.Cluster.ProcessGroup(id).PVCName(s.Cluster)].DeletionTimestamp = new(stagestest.NoonTime())
		}
	}
}

func TestUpdatePods(t *testing.T) {
	const (
		oneZone     = "recreate pods: sample-storage-114, sample-storage-115"
		theOther    = "recreate pods: sample-storage-116"
		onePod      = "recreate pods: sample-storage-114"
		maintenance = "set maintenance mode of zone node-14 for 10m0s, to restart storage-114"
	)
	storage := func(s *plan.Snapshot, id v1beta2.ProcessGroupID) *v1beta2.ProcessGroupStatus {
		return s.Cluster.ProcessGroup(id)
	}
	mode := func(mode v1beta2.PodUpdateMode) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.DeletionMode = mode }
	}
	proven := func(s *plan.Snapshot) {
		s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = desiredHash(t, *s, "storage-116")
	}
	cannotStart := func(s *plan.Snapshot, g *v1beta2.ProcessGroupStatus, reason string) {
		for _, other := range s.Groups() {
			if other.ProcessClass == g.ProcessClass && other != g {
				stagestest.DropProcess(s, other)
				s.Pod(other).DeletionTimestamp = new(metav1.NewTime(stagestest.Noon.Add(-time.Hour)))
			}
		}
		stagestest.DropProcess(s, g)
		s.Pod(g).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	}
	neverStarted := func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
		pod := s.Pod(storage(s, id))
		pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodPending, nil
		delete(s.PodFiles, pod.Name)
		storage(s, id).SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
		stagestest.DropProcess(s, storage(s, id))
	}
	tests := map[string]stagestest.RemovalCase{
		"leaves pods alone that match the spec":                      {From: stagestest.HealthyCluster},
		"recreates one pod of a template that has not proven itself": {From: stagestest.OutdatedStorage, Does: []string{onePod}, Holds: "2 remaining"},
		"recreates one pod where the spec wants it that way":         {From: stagestest.OutdatedStorage, Given: mode(v1beta2.PodUpdateModeProcessGroup), Does: []string{onePod}, Holds: "2 remaining"},
		"recreates all at once where the spec wants it that way": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { mode(v1beta2.PodUpdateModeAll)(s); proven(s) },
			Does: []string{oneZone}, Holds: "0 remaining",
		},
		"needs a user to delete them where the spec wants it that way": {From: stagestest.OutdatedStorage, Given: mode(v1beta2.PodUpdateModeNone), Holds: "delete these pods manually"},
		"leaves logs to be replaced, and recreates them where the spec wants that": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
			}, Does: []string{"recreate pods: sample-log-101"}, Holds: "3 remaining",
		},
		"leaves all to be replaced where the spec wants that": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyReplace
			},
		},
		"does not touch a group that leaves": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-114").MarkForRemoval(stagestest.Noon)
				storage(s, "storage-115").MarkForRemoval(stagestest.Noon)
			}, Does: []string{theOther}, Holds: "0 remaining",
		},
		"waits while a pod vanished a moment ago, although all still looks complete": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				delete(s.Pods, "sample-storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon.Add(-89*time.Second))
			}, Holds: "storage-116 lost its pod a moment ago",
		},
		"waits while a pod terminates": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Pods["sample-storage-116"].DeletionTimestamp = new(stagestest.NoonTime()) },
			Holds: "storage-116 has a terminating pod",
		},
		"waits while a stateless pod terminates": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pod(stagestest.FirstOf(*s, v1beta2.ProcessClassStateless)).DeletionTimestamp = new(stagestest.NoonTime())
			}, Holds: "stateless-105 has a terminating pod",
		},
		"does not wait for a stateless pod that terminates with its group": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStateless)
				g.MarkForRemoval(stagestest.Noon)
				s.Pod(g).DeletionTimestamp = new(stagestest.NoonTime())
			}, Does: []string{onePod}, Holds: "2 remaining",
		},
		"does not wait for one that terminates for long and does not report": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStateless)
				s.Pod(g).DeletionTimestamp = new(metav1.NewTime(stagestest.Noon.Add(-time.Hour)))
				stagestest.DropProcess(s, g)
			}, Does: []string{onePod}, Holds: "2 remaining",
		},
		"waits for a pod that this pass created, whatever the clock shows": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon.Add(-time.Hour))
				stagestest.DropProcess(s, storage(s, "storage-116"))
			}, Holds: "storage-116 has a pod that this pass created",
		},
		"keeps a pod whose PVC is being deleted, and recreates the others": {
			From: stagestest.OutdatedStorage, Given: going("storage-114", "storage-115"), Does: []string{theOther}, Holds: "0 remaining",
		},
		"keeps all pods whose PVCs are being deleted, where the spec recreates all at once": {
			From: stagestest.OutdatedStorage, Given: stagestest.All(mode(v1beta2.PodUpdateModeAll), going("storage-114", "storage-115", "storage-116")),
			Holds: "3 pods are not deleted, because the data on the volumes would be lost with them: storage-114: PVC sample-storage-114-data is being deleted since ",
		},
		"keeps a pod whose PVC no longer exists": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				delete(s.Volumes, "sample-storage-114-data")
				delete(s.Volumes, "sample-storage-115-data")
			}, Does: []string{theOther}, Holds: "0 remaining",
		},
		"keeps a pod that runs with the volume of a former PVC": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				for _, name := range []string{"sample-storage-114", "sample-storage-115"} {
					s.Pods[name].Status.StartTime = new(stagestest.NoonTime())
					s.Volumes[name+"-data"].CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(time.Second))
				}
			}, Does: []string{theOther}, Holds: "0 remaining",
		},
		"waits for the pod of a group that leaves and still holds data": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-116").MarkForRemoval(stagestest.Noon)
				s.Pods["sample-storage-116"].DeletionTimestamp = new(stagestest.NoonTime())
			}, Holds: "storage-116 has a terminating pod",
		},
		"waits while a group that leaves and still holds data died a moment ago": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-116").MarkForRemoval(stagestest.Noon)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Second))
			}, Holds: "storage-116 stopped reporting 1s ago",
		},
		"waits until the processes of a new pod report": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-30 * time.Second))
				stagestest.DropProcess(s, storage(s, "storage-116"))
			}, Holds: "storage-116 has a new pod whose processes do not report yet",
		},
		"does not take the processes of the pod before for those of a new one": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-30 * time.Second))
			}, Holds: "older (1h0m0s) than its pod (30s)",
		},
		"does not take a process at another address for the pod's own, whatever the clocks say": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].Status.PodIP, s.Pods["sample-storage-116"].Status.PodIPs = "10.9.9.9", nil
			}, Holds: "storage-116 has a process at 10.1.0.16, which its pod does not have",
		},
		"waits while the database is not fully fault tolerant": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				one := 1
				s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
			}, Holds: "some data has 1 of 2 replicas, 2 required",
		},
		"waits while a storage process died a moment ago": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
			}, Holds: "storage-116 stopped reporting 1m0s ago",
		},
		"stops at a pod that has the current spec and does not report again": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = desiredHash(t, *s, "storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
				stagestest.DropProcess(s, storage(s, "storage-116"))
			}, Holds: "the update stops while processes with the new spec do not report: storage-116",
		},
		"stops at a pod whose template has not proven itself, also where all may go down at once": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				mode(v1beta2.PodUpdateModeAll)(s)
				proven(s)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
				stagestest.DropProcess(s, storage(s, "storage-116"))
			}, Holds: "the update stops while processes with the new spec do not report: storage-116",
		},
		"recreates the pods of one fault domain once the template has proven itself": {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { proven(s) }, Does: []string{oneZone}, Holds: "0 remaining"},
		"stops at a stateless pod with the new spec that cannot start, and names its image": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				cannotStart(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStateless), "ImagePullBackOff")
			},
			Holds: "3 pods have to be recreated; the update stops at the first pod with the new spec that does not start: pod sample-stateless-105 cannot start container foundationdb: ImagePullBackOff, image",
		},
		"names a pod with the new spec that cannot start before what is not settled yet": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				cannotStart(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStateless), "ImagePullBackOff")
				s.Pods["sample-storage-116"].DeletionTimestamp = new(stagestest.NoonTime())
			}, Holds: "2 pods have to be recreated; the update stops at the first pod with the new spec that does not start: pod sample-stateless-105",
		},
		"recreates one pod of each class that has not proven itself once another class has": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				mode(v1beta2.PodUpdateModeAll)(s)
				proven(s)
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				for _, g := range s.Groups() {
					if g.ProcessClass == v1beta2.ProcessClassStateless {
						s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
					}
				}
			}, Does: []string{"recreate pods: sample-log-101, sample-stateless-105, sample-storage-114, sample-storage-115"}, Holds: "remaining",
		},
		"waits for a pod with the new spec that crashes": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				cannotStart(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStateless), "CrashLoopBackOff")
			},
			Holds: "sample-stateless-105 cannot start container foundationdb: CrashLoopBackOff",
		},
		"waits for a pod with the new spec that cannot start, although its group is marked for removal": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				first := stagestest.FirstOf(*s, v1beta2.ProcessClassStateless)
				cannotStart(s, first, "ImagePullBackOff")
				first.MarkForRemoval(stagestest.Noon)
			},
			Holds: "sample-stateless-105 cannot start container foundationdb: ImagePullBackOff",
		},
		"goes on beside a pod with data that is marked for removal and does not report once another one of its class does": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				log := stagestest.FirstOf(*s, v1beta2.ProcessClassLog)
				log.MarkForRemoval(stagestest.Noon.Add(-time.Hour))
				stagestest.UnresponsiveFor(s, log, 72*time.Hour)
			}, Does: []string{onePod}, Holds: "2 remaining",
		},
		"goes on beside a storage pod with the new spec that is marked for removal and does not report, once another one does": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				proven(s)
				marked := storage(s, "storage-114")
				s.Pod(marked).Annotations[v1beta2.AnnotationLastAppliedSpec] = desiredHash(t, *s, marked.ProcessGroupID)
				marked.MarkForRemoval(stagestest.Noon.Add(-time.Hour))
				stagestest.UnresponsiveFor(s, marked, 72*time.Hour)
			}, Does: []string{"recreate pods: sample-storage-115"}, Holds: "0 remaining",
		},
		"does not wait for the pod of a group that is marked for removal": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				marked := stagestest.FirstOf(*s, v1beta2.ProcessClassStorage)
				marked.MarkForRemoval(stagestest.Noon.Add(-time.Hour))
				marked.SetCondition(v1beta2.ConditionMissingPod, stagestest.Noon.Add(-time.Hour))
				delete(s.Pods, marked.PodName(s.Cluster))
				stagestest.DropProcess(s, marked)
			}, Does: []string{"recreate pods: sample-storage-115"}, Holds: "1 remaining",
		},
		"goes on beside a stateless pod that does not report once another one of its class does": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				stagestest.DropProcess(s, stagestest.FirstOf(*s, v1beta2.ProcessClassStateless))
			}, Does: []string{onePod}, Holds: "2 remaining",
		},
		"recreates an outdated pod that never started, at once": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { neverStarted(s, "storage-116") }, Does: []string{theOther}, Holds: "2 remaining",
		},
		"keeps a pod that never started whose PVC is being deleted: the volume before holds the data": {
			From: stagestest.OutdatedStorage, Given: stagestest.All(func(s *plan.Snapshot) { neverStarted(s, "storage-116") }, going("storage-114", "storage-115", "storage-116")),
			Holds: "3 pods are not deleted, because the data on the volumes would be lost with them: ",
		},
		"takes no pod down beside one that cannot start and whose PVC is being deleted: the template was never seen to work": {
			From: stagestest.OutdatedStorage, Given: stagestest.All(func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				cannotStart(s, s.Cluster.ProcessGroup("storage-116"), "ImagePullBackOff")
			}, going("storage-116")),
			Holds: "1 pod is not deleted, because the data on the volume would be lost with it: storage-116: PVC sample-storage-116-data is being deleted",
		},
		"recreates a pod that never started while the database is unavailable": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"recreates a pod that never started during an incompatible upgrade, and no other": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				s.Cluster.Spec.Version = "7.4.6"
			}, Does: []string{theOther}, Holds: "remaining",
		},
		"recreates a pod that never started during a change to or from TLS": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				s.Cluster.Status.RequiredAddresses.TLS = true
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"keeps a pod that never started during an incompatible upgrade where users delete pods": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				mode(v1beta2.PodUpdateModeNone)(s)
				s.Cluster.Spec.Version = "7.4.6"
			}, Holds: "until all processes run 7.4.6",
		},
		"recreates a pod that never started of a group that leaves, so that its data can": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				storage(s, "storage-116").MarkForRemoval(stagestest.Noon)
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"leaves a pod alone that never started and is no longer needed": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				storage(s, "storage-116").MarkForRemoval(stagestest.Noon)
				storage(s, "storage-116").SetExcluded(stagestest.Noon)
			}, Does: []string{onePod}, Holds: "1 remaining",
		},
		"recreates a pod that has been pending for too long": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodPending, stagestest.Noon.Add(-time.Hour))
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"does not take a pod for one that never started whose processes run beside a broken sidecar": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				neverStarted(s, "storage-116")
				s.Pods["sample-storage-116"].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
				storage(s, "storage-114").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Second))
			}, Holds: "storage-114 stopped reporting 1s ago",
		},
		"lets a user recreate a pod that never started where the spec wants it that way": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { neverStarted(s, "storage-116"); mode(v1beta2.PodUpdateModeNone)(s) }, Holds: "delete these pods manually",
		},
		"recreates a pod that crashed before it could report its zone": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
				stagestest.DropProcess(s, storage(s, "storage-116"))
				delete(s.PodFiles, "sample-storage-116")
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"begins with the fault domain that is down already": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				storage(s, "storage-116").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Hour))
				stagestest.DropProcess(s, storage(s, "storage-116"))
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"waits while a storage process of another fault domain has just started": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = desiredHash(t, *s, "storage-116")
				stagestest.Uptime(s, "storage-116", 12*time.Second)
			}, Holds: "none may go down now: storage-116 started 12s ago, 1m30s required",
		},
		"waits while a log process has just started": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "log-101", 89*time.Second) },
			Holds: "log-101 started 1m29s ago, 1m30s required",
		},
		"goes on beside a process that has been up for as long as a death takes to show": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "log-101", 90*time.Second) }, Does: []string{onePod}, Holds: "2 remaining",
		},
		"takes a process of unknown age for one that has just started": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				stagestest.EditProcess(s, storage(s, "log-101"), func(p *fdb.Process) { p.UptimeSeconds = nil })
			}, Holds: "log-101 started at an unknown time, 1m30s required",
		},
		"recreates the pod of a process that crashes in a loop": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "storage-116", 12*time.Second) }, Does: []string{theOther}, Holds: "2 remaining",
		},
		"recreates one pod first beside a process that has just started": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				mode(v1beta2.PodUpdateModeAll)(s)
				stagestest.Uptime(s, "storage-116", 12*time.Second)
			}, Does: []string{onePod}, Holds: "2 remaining",
		},
		"recreates what keeps nothing beside a process that has just started": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				s.Pod(stagestest.FirstOf(*s, v1beta2.ProcessClassStateless)).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
				stagestest.Uptime(s, "storage-116", 12*time.Second)
			}, Does: []string{"recreate pods: sample-stateless-105"}, Holds: "0 remaining",
		},
		"deletes nothing on an old status document":     {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Database.AsOf = stagestest.Noon.Add(-2 * time.Minute) }, Holds: "the status document is"},
		"deletes nothing after the clock was set back":  {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Database.AsOf = stagestest.Noon.Add(time.Minute) }, Holds: "the status document is"},
		"waits while a restore has the database locked": {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked"},
		"waits while the database is unavailable":       {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
		"omits a pod that does not report its zone":     {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { delete(s.PodFiles, "sample-storage-114") }, Does: []string{"recreate pods: sample-storage-115"}, Holds: "1 remaining"},
		"leaves a pod out that cannot start": {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
			storage(s, "storage-116").SetCondition(v1beta2.ConditionPodPending, stagestest.Noon.Add(-time.Hour))
		}, Does: []string{onePod}, Holds: "1 remaining"},
		"waits for the end of an incompatible upgrade": {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }, Holds: "until all processes run 7.4.6"},
		"waits for the end of a change to or from TLS": {From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Cluster.Status.RequiredAddresses.TLS = true }, Holds: "until the conversion to or from TLS is over"},
		"leaves a pod to the replacement of its group": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Spec.NodeSelector = map[string]string{"disk": "slow"}
			}, Does: []string{"recreate pods: sample-storage-115"}, Holds: "1 remaining",
		},
		"announces maintenance before the zone goes down": {From: stagestest.OutdatedStorage, Given: stagestest.WithMaintenance, Does: []string{maintenance, onePod}, Holds: "2 remaining"},
		"goes on in the zone that is under maintenance": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-16" }, Does: []string{theOther}, Holds: "2 remaining",
		},
		"waits while it is unknown whether another zone is under maintenance": {
			From: stagestest.OutdatedStorage, Given: stagestest.MaintenanceUnread, Holds: "does not report whether a zone is under maintenance",
		},
		"waits while another zone is under maintenance": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "node-1" }, Holds: "zone node-1 is under maintenance",
		},
		"lets no log go down beside a zone under maintenance": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				s.Pods["sample-log-101"].Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
				s.Database.Status.Cluster.MaintenanceZone = "node-14"
			}, Holds: "zone node-14 is under maintenance",
		},
		"lets what keeps nothing go down beside a zone under maintenance": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
				g := stagestest.FirstOf(*s, v1beta2.ProcessClassStateless)
				s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "another"
				s.Database.Status.Cluster.MaintenanceZone = "node-14"
			}, Does: []string{"recreate pods: sample-stateless-105"}, Holds: "0 remaining",
		},
		"takes no second zone down beside one that is unavailable": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.MaxZonesWithUnavailablePods = new(1)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
		"takes no further zone down where too many are unavailable": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.MaxZonesWithUnavailablePods = new(1)
				s.Pods["sample-storage-116"].Annotations[v1beta2.AnnotationLastAppliedSpec] = desiredHash(t, *s, "storage-116")
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
				stagestest.FirstOf(*s, v1beta2.ProcessClassLog).SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
			}, Holds: "2 fault domains have unavailable pods",
		},
		"corrects the pods of unavailable zones, one zone at a time, however many there are": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.MaxZonesWithUnavailablePods = new(1)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
				storage(s, "storage-114").SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
			}, Does: []string{onePod}, Holds: "2 remaining",
		},
		"corrects an unavailable zone where none may be": {
			From: stagestest.OutdatedStorage, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.MaxZonesWithUnavailablePods = new(0)
				storage(s, "storage-116").SetCondition(v1beta2.ConditionPodFailing, stagestest.Noon.Add(-time.Hour))
			}, Does: []string{theOther}, Holds: "2 remaining",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, UpdatePods(plan.Options{})) })
	}
}

// Without the lock two control-plane instances could each take a fault domain down at the same time.
func TestPodUpdatesRequireTheLockUnlessAllPodsAreDeleted(t *testing.T) {
	for mode, want := range map[v1beta2.PodUpdateMode]bool{v1beta2.PodUpdateModeZone: true, v1beta2.PodUpdateModeProcessGroup: true, v1beta2.PodUpdateModeAll: false} {
		s := stagestest.OutdatedStorage(t)
		s.Cluster.Spec.AutomationOptions.DeletionMode = mode
		d := UpdatePods(plan.Options{}).Decide(s)
		if len(d.Actions) != 1 || plan.EffectOf(d.Actions[0]).Locked != want {
			t.Errorf("%s: %v, want the lock needed: %t", mode, stagestest.Described(d), want)
		}
	}
}

// Whatever pods are outdated, one decision never affects two fault domains.
func TestUpdatePodsDeletesPodsOfOneFaultDomainAtATime(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		s := stagestest.OutdatedStorage(t)
		for i, g := range s.Groups() {
			s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = strings.Repeat("x", 1+(seed>>(i%7))&1)
			stagestest.ShareZone(&s, g.ProcessGroupID, stagestest.NodeName((i*seed)%5))
		}
		s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
		zones := map[string]bool{}
		for _, a := range UpdatePods(plan.Options{}).Decide(s).Actions {
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

func TestARecentlyRecreatedPodLimitsRecreationToItsFaultDomain(t *testing.T) {
	s := stagestest.OutdatedStorage(t)
	s.Pods["sample-storage-116"].CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-30 * time.Second))
	stagestest.EditProcess(&s, s.Cluster.ProcessGroup("storage-116"), func(p *fdb.Process) { p.UptimeSeconds = new(10.0) })
	// only its own fault domain may go down with it
	if diff := cmp.Diff([]string{"recreate pods: sample-storage-116"}, stagestest.Described(UpdatePods(plan.Options{}).Decide(s))); diff != "" {
		t.Error(diff)
	}
}

// A pass with a retry time waits once, instead of checking every few seconds.
func TestUpdatePodsRetriesWhenAYoungProcessIsOldEnough(t *testing.T) {
	s := stagestest.OutdatedStorage(t)
	stagestest.Uptime(&s, "log-101", 12*time.Second)
	if d := UpdatePods(plan.Options{}).Decide(s); d.Hold == nil || d.Hold.RetryAfter != 78*time.Second || d.Hold.Manual {
		t.Errorf("%+v", d.Hold)
	}
}
