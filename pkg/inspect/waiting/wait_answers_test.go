package waiting

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestWaitConditionsReportYesNoOrUnknown(t *testing.T) {
	version := fdb.Version{Major: 7, Minor: 3, Patch: 79}
	storage3 := v1beta2.ProcessGroupID("storage-3")
	tests := map[string]struct {
		condition WaitCondition
		given     func(*testing.T, *inspect.Facts)
		want      string // yes, no or ?
		reason    string
	}{
		"available": {condition: WaitAvailable(), want: "yes"},
		"not available without an answer, whatever the record remembers": {
			condition: WaitAvailable(), given: unresponsiveDatabase, want: "?", reason: "no answer from the database: timed out",
		},
		"not available when the database reports it": {
			condition: WaitAvailable(), given: logsDown, want: "no", reason: "the database reports that it is unavailable",
		},
		"not available in a document that lists no process": {
			condition: WaitAvailable(), given: partialDocument, want: "?", reason: "the status document is incomplete",
		},
		"not removed in a document that lists no process": {
			condition: WaitRemoved(storage3), given: func(t *testing.T, f *inspect.Facts) { t.Helper(); removedStorage(t, f); partialDocument(t, f) }, want: "?", reason: "the status document is incomplete",
		},
		"healthy": {condition: WaitHealthy(), want: "yes"},
		"not healthy before the last recovery has ended": {
			condition: WaitHealthy(), given: recoveringLogs, want: "no", reason: "recovery state is all logs recruited",
		},
		"not healthy while data is initializing": {
			condition: WaitHealthy(), given: initializingData, want: "no", reason: "data is initializing",
		},
		"not healthy with a process that does not report, in words without an age": {
			condition: WaitHealthy(), given: unresponsiveStorage, want: "no",
			reason: "1 storage group missing (storage-3); cannot lose another zone, 1 desired",
		},
		"not healthy while the disks are full": {
			condition: WaitHealthy(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Database.Status.Cluster.QoS.TransactionsPerSecondLimit = new(0.0)
				f.Database.Status.Cluster.QoS.PerformanceLimitedBy = &fdb.Limit{Name: "storage_server_min_free_space_ratio"}
			}, want: "no",
			reason: "the database starts no transactions: storage_server_min_free_space_ratio (ended by larger volumes or more storage processes)",
		},
		"not healthy while it is locked": {
			condition: WaitHealthy(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"}
			}, want: "no",
			reason: "the database is locked with UID ab (ended by the restore or disaster recovery that locked it, else fdbcli unlock)",
		},
		"not healthy with a zone under maintenance, in words without an age": {
			condition: WaitHealthy(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Database.Status.Cluster.MaintenanceZone, f.Database.Status.Cluster.MaintenanceSecondsRemaining = "z1", new(60.0)
			}, want: "no",
			reason: "zone z1 is under maintenance (ended by kubectl fdb maintenance off)",
		},
		"health is unknown without the limit of ratekeeper": {
			condition: WaitHealthy(), given: func(_ *testing.T, f *inspect.Facts) { f.Database.Status.Cluster.QoS = nil }, want: "?",
			reason: "cannot determine whether transactions start: the database does not report the limit of its ratekeeper (ended by a ratekeeper that reports, seconds after a recovery)",
		},
		"not healthy during an overdue pause": {
			condition: WaitHealthy(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Cluster.Spec.Skip = true
				f.Cluster.Annotations = map[string]string{plan.AnnotationPausedUntil: f.Now.Add(-time.Hour).UTC().Format(time.RFC3339)}
			}, want: "no",
			reason: "the pause of operators is overdue: until 2026-11-20T11:00:00Z (ended by kubectl fdb resume)",
		},
		"healthy during a pause": {
			condition: WaitHealthy(), given: func(_ *testing.T, f *inspect.Facts) { f.Cluster.Spec.Skip = true }, want: "yes",
		},
		"health is unknown without an answer": {
			condition: WaitHealthy(), given: unresponsiveDatabase, want: "?", reason: "no answer from the database: timed out",
		},
		"reconciled": {condition: WaitReconciled(), want: "yes"},
		"not reconciled with a gap": {
			condition: WaitReconciled(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Gaps.ReconciledProcessGroups, f.Gaps.Reasons = 11, []string{"11 of 12"}
			},
			want: "no", reason: "11 of 12",
		},
		"a resource that could not be evaluated is not reconciled": {
			condition: WaitReconciled(), given: func(_ *testing.T, f *inspect.Facts) { f.Unjudged = "it contradicts itself" },
			want: "?", reason: "the process groups are as in the status: it contradicts itself",
		},
		"reconciled at the last pass does not count without an answer": {
			condition: WaitReconciled(), given: unresponsiveDatabase, want: "?", reason: "no answer from the database: timed out",
		},
		"fully replicated": {condition: WaitFullyReplicated(), want: "yes"},
		"not fully replicated while copies are not counted, though the document reports it": {
			condition: WaitFullyReplicated(), given: func(_ *testing.T, f *inspect.Facts) { f.Database.Status.Cluster.Data.TeamTrackers = nil },
			want: "?", reason: "data distribution is starting, so the number of copies is unknown yet",
		},
		"not fully replicated with a copy less": {
			condition: WaitFullyReplicated(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
			}, want: "no", reason: "replication 1 of 2",
		},
		"not fully replicated with a silent storage process that the database does not miss yet": {
			condition: WaitFullyReplicated(), given: unresponsiveStorage, want: "no", reason: "processes that hold data do not report, in 1 zone: zone-3",
		},
		"not fully replicated with a log that lacks a copy": {
			condition: WaitFullyReplicated(), given: func(_ *testing.T, f *inspect.Facts) { f.Database.Status.Cluster.Logs[0].FaultTolerance = new(0) },
			want: "no", reason: "not all logs have their copies",
		},
		"tolerance": {condition: WaitTolerance(1), want: "yes"},
		"less tolerance than the database reports, with a silent zone": {
			condition: WaitTolerance(1), given: unresponsiveStorage, want: "no", reason: "cannot lose another zone",
		},
		"no tolerance when the database does not tell": {
			condition: WaitTolerance(1), given: func(_ *testing.T, f *inspect.Facts) { f.Database.Status.Cluster.FaultTolerance = nil },
			want: "?", reason: "the fault tolerance is unknown: the database does not report it",
		},
		"no exclusions": {condition: WaitNoExclusions(), want: "yes"},
		"an exclusion": {
			condition: WaitNoExclusions(), given: excludedStorage, want: "no", reason: "excluded: locality_instance_id:storage-3",
		},
		"an exclusion that is newer than the status document": {
			condition: WaitNoExclusions(), given: func(_ *testing.T, f *inspect.Facts) { f.Coordination.Exclusions = []string{"10.0.0.1:4501"} },
			want: "no", reason: "excluded: 10.0.0.1:4501",
		},
		"no configuration means no exclusions": {
			condition: WaitNoExclusions(), given: func(_ *testing.T, f *inspect.Facts) { f.Database.Status.Cluster.Configuration = nil },
			want: "?", reason: "the exclusions are unknown: the database does not report them",
		},
		"nothing is excluded, so all exclusions are safe": {condition: WaitExclusionsSafe(), given: readExclusions, want: "yes"},
		"exclusions that were not read are not safe": {
			condition: WaitExclusionsSafe(), want: "?", reason: "the exclusions in force and in progress could not be read",
		},
		"exclusions are unknown without an answer": {condition: WaitExclusionsSafe(), given: unresponsiveDatabase, want: "?", reason: "no answer from the database: timed out"},
		"an exclusion is not safe while its process has a role": {
			condition: WaitExclusionsSafe(), given: leavingStorage, want: "no", reason: "1 of 1 is not safe to remove; 0B left on it",
		},
		"an exclusion is safe once nothing depends on it":    {condition: WaitExclusionsSafe(), given: drainedStorage, want: "yes"},
		"a process group is safe once nothing depends on it": {condition: WaitSafe(storage3), given: drainedStorage, want: "yes"},
		"a process group that is not excluded is not safe": {
			condition: WaitSafe(storage3), given: readExclusions, want: "no", reason: "1 of 1 is not safe to remove; 0B left on it",
		},
		"a process group that was removed is safe": {condition: WaitSafe(storage3), given: func(t *testing.T, f *inspect.Facts) {
			t.Helper()
			readExclusions(t, f)
			removedStorage(t, f)
		}, want: "yes"},
		"removed": {condition: WaitRemoved(storage3), given: removedStorage, want: "yes"},
		"not removed without a mark": {
			condition: WaitRemoved(storage3), want: "no", reason: "process group storage-3 is not marked for removal",
		},
		"not removed while its record reports that it leaves": {
			condition: WaitRemoved(storage3), given: func(_ *testing.T, f *inspect.Facts) { f.Cluster.ProcessGroup(storage3).MarkForRemoval(noon) },
			want: "no", reason: "process group storage-3 is marked for removal, its exclusion: pending",
		},
		"not removed while its processes report, though no record is left": {
			condition: WaitRemoved(storage3), given: func(_ *testing.T, f *inspect.Facts) { forget(f, storage3) },
			want: "no", reason: "processes of storage-3 still report",
		},
		"not removed while it is excluded": {
			condition: WaitRemoved(storage3), given: func(t *testing.T, f *inspect.Facts) {
				t.Helper()
				removedStorage(t, f)
				excludedStorage(t, f)
			}, want: "no", reason: "locality_instance_id:storage-3 is still excluded",
		},
		"not removed while a PVC is left": {
			condition: WaitRemoved(storage3), given: func(t *testing.T, f *inspect.Facts) {
				t.Helper()
				removedStorage(t, f)
				f.Volumes = map[string]*corev1.PersistentVolumeClaim{"data": {ObjectMeta: metav1.ObjectMeta{
					Name: "data", Labels: map[string]string{v1beta2.LabelProcessGroupID: "storage-3"},
				}}}
			}, want: "no", reason: "still there: persistentvolumeclaim/data",
		},
		"not removed when the database cannot be asked": {
			condition: WaitRemoved(storage3), given: func(t *testing.T, f *inspect.Facts) {
				t.Helper()
				removedStorage(t, f)
				unresponsiveDatabase(t, f)
			}, want: "?", reason: "no answer from the database: timed out",
		},
		"no condition": {condition: WaitNoCondition(v1beta2.ConditionPodFailing), want: "yes"},
		"a condition": {
			condition: WaitNoCondition(v1beta2.ConditionPodFailing), given: func(_ *testing.T, f *inspect.Facts) {
				f.Cluster.ProcessGroup(storage3).SetCondition(v1beta2.ConditionPodFailing, noon)
			}, want: "no", reason: "1 process group with PodFailing: storage-3",
		},
		"conditions of the last pass do not count": {
			condition: WaitNoCondition(v1beta2.ConditionPodFailing), given: unresponsiveDatabase, want: "?", reason: "no answer from the database: timed out",
		},
		"lock-free": {condition: WaitLockFree(), want: "yes"},
		"a Lease": {
			condition: WaitLockFree(), given: func(_ *testing.T, f *inspect.Facts) {
				f.Lease = inspect.Lease{Read: true, Holder: "alice", Until: noon.Add(time.Second)}
			}, want: "no", reason: "the Lease is held by alice",
		},
		"a Lease that could not be read": {
			condition: WaitLockFree(), given: func(_ *testing.T, f *inspect.Facts) { f.Lease = inspect.Lease{} }, want: "?", reason: "the Lease could not be read",
		},
		"a lock": {
			condition: WaitLockFree(), given: locked(noon.Add(time.Minute)), want: "no", reason: "the lock is held by dc2",
		},
		"a lock that ran out": {condition: WaitLockFree(), given: locked(noon.Add(-time.Minute)), want: "yes"},
		"a lock that was not read": {
			condition: WaitLockFree(), given: func(_ *testing.T, f *inspect.Facts) { f.Cluster.Spec.LockOptions.DisableLocks = new(bool) },
			want: "?", reason: "the lock in the database could not be read",
		},
		"a version": {condition: WaitVersion(version), want: "yes"},
		"another version": {
			condition: WaitVersion(fdb.Version{Major: 7, Minor: 4, Patch: 1}), want: "no", reason: "12 processes run 7.3.79",
		},
		"a version that those lost with a node may not have": {
			condition: WaitVersion(version), given: func(t *testing.T, f *inspect.Facts) {
				t.Helper()
				unresponsiveStorage(t, f)
				f.Pod(f.Cluster.ProcessGroup("storage-3")).Spec.NodeName = "node-5"
				f.Nodes = map[string]*corev1.Node{"node-5": nil}
			}, want: "no", reason: "node node-5 no longer exists (storage-3)",
		},
		"a version that the silent may not have": {
			condition: WaitVersion(version), given: unresponsiveStorage, want: "no", reason: "1 storage group missing (storage-3)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			if tc.given != nil {
				tc.given(t, &f)
			}
			got := tc.condition.evaluate(f)
			if phrase.YesNo(got.met, phrase.UnknownCell) != tc.want || got.reason != tc.reason {
				t.Errorf("%s: %s (%q), want %s (%q)", tc.condition.Text, phrase.YesNo(got.met, phrase.UnknownCell), got.reason, tc.want, tc.reason)
			}
		})
	}
}

func unresponsiveDatabase(_ *testing.T, f *inspect.Facts) {
	f.Database = plan.DatabaseFacts{Unreachable: "timed out"}
	f.Cluster.Status.Health.Available, f.Cluster.Status.Health.Healthy = true, true
}

func partialDocument(_ *testing.T, f *inspect.Facts) { f.Database.Status.Cluster.Processes = nil }

func recoveringLogs(_ *testing.T, f *inspect.Facts) {
	f.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAllLogsRecruited
}

func initializingData(_ *testing.T, f *inspect.Facts) {
	f.Database.Status.Cluster.Data.State = &fdb.DataState{Name: "initializing"}
}

func logsDown(t *testing.T, f *inspect.Facts) {
	t.Helper()
	f.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
}

func unresponsiveStorage(_ *testing.T, f *inspect.Facts) {
	inspecttest.Unresponsiveness(f.Snapshot, "storage-3", time.Minute)
}

func excludedStorage(_ *testing.T, f *inspect.Facts) {
	c := f.Database.Status.Cluster.Configuration
	c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: "locality_instance_id:storage-3"})
}

func readExclusions(_ *testing.T, f *inspect.Facts) { f.Coordination.ExclusionsRead = true }

func leavingStorage(t *testing.T, f *inspect.Facts) {
	t.Helper()
	g := f.Cluster.ProcessGroup("storage-3")
	g.MarkForRemoval(noon.Add(-time.Hour))
	excludedStorage(t, f)
	f.Coordination = plan.CoordinationFacts{ExclusionsRead: true, Exclusions: []string{g.ExclusionString()}}
}

func drainedStorage(t *testing.T, f *inspect.Facts) {
	t.Helper()
	leavingStorage(t, f)
	inspecttest.Drain(f.Snapshot, "storage-3")
}

func forget(f *inspect.Facts, id v1beta2.ProcessGroupID) {
	var rest []*v1beta2.ProcessGroupStatus
	for _, g := range f.Cluster.Status.ProcessGroups {
		if g.ProcessGroupID != id {
			rest = append(rest, g)
		}
	}
	f.Cluster.Status.ProcessGroups = rest
}

func removedStorage(_ *testing.T, f *inspect.Facts) {
	inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 0)
	forget(f, "storage-3")
}

func locked(until time.Time) func(*testing.T, *inspect.Facts) {
	return func(_ *testing.T, f *inspect.Facts) {
		f.Cluster.Spec.LockOptions.DisableLocks = new(bool)
		f.Coordination = plan.CoordinationFacts{Read: true, Lock: &fdb.Lock{Owner: "dc2", End: until}}
	}
}

func TestWaitStableRestartsWhenAConditionFails(t *testing.T) {
	w := Wait{Conditions: []WaitCondition{WaitAvailable(), WaitHealthy()}, Stable: time.Minute}
	at := func(seconds int, given func(*testing.T, *inspect.Facts)) bool {
		f := healthy(t)
		if given != nil {
			given(t, &f)
		}
		f.Now = noon.Add(time.Duration(seconds) * time.Second)
		w.Evaluate(meta, f)
		return w.View().Met
	}
	got := []bool{
		at(0, nil), at(59, nil), // one second is missing
		at(61, unresponsiveStorage), // not healthy any more
		at(62, nil), at(121, nil), at(122, nil),
	}
	if diff := cmp.Diff([]bool{false, false, false, false, false, true}, got); diff != "" {
		t.Error(diff)
	}
	v := w.View()
	if since := *v.Conditions[0].Since; !since.Equal(noon) || v.WaitedSeconds != 122 {
		t.Errorf("available since %s, waited %v s", since, v.WaitedSeconds)
	}
	w.Miss(meta, noon.Add(time.Hour), "connection refused")
	if v := w.View(); v.Met || v.Conditions[0].Met != nil || v.Conditions[0].Reason != "connection refused" {
		t.Errorf("after a read that failed: %+v", v)
	}
}
