package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// BackedUp has a cluster with a backup that is well, edited, and no restore.
func (in *Input) BackedUp(edit func(*inspect.BackupStatusView)) {
	b := &v1beta2.FoundationDBBackup{}
	b.Name = "nightly"
	v := &inspect.BackupStatusView{
		Name: "nightly", Reconciled: new(true), Desired: "Running", Mode: "Continuous", Tag: "default", State: new("running differential"),
		Running: new(true), Paused: new(false), Restorable: new(true), Own: new(true),
		LatestRestorable: &inspect.BackupMomentView{Version: 1, AgeSeconds: new(int64(20))}, Snapshot: &inspect.BackupSnapshotView{BeganAt: new(noon.Add(-4 * time.Minute))},
		Agents: inspect.BackupAgentsView{Desired: 2, Ready: 2},
	}
	edit(v)
	in.Backups = &inspect.ClusterBackups{Backups: []inspect.SeenBackup{{Resource: b, View: v}}}
}

// Problem is what the judge reports of a backup that is not reconciled.
func Problem(v *inspect.BackupStatusView, problems ...string) {
	v.Reconciled, v.Problems = new(false), problems
}

// unasked is a backup of which the database does not tell.
func unasked(v *inspect.BackupStatusView, why string) {
	v.Reconciled, v.UnknownReason = nil, why
	v.Running, v.Paused, v.Restorable, v.LatestRestorable = nil, nil, nil, nil
}

// restoring has a restore into the cluster.
func (in *Input) restoring(v inspect.RestoreStatusView) {
	r := &v1beta2.FoundationDBRestore{}
	r.Name, v.Name = "again", "again"
	in.Backups = &inspect.ClusterBackups{Restores: []inspect.SeenRestore{{Resource: r, View: &v}}}
}

func TestWhyReportsProblemsOfBackups(t *testing.T) {
	tests := map[string]struct {
		given func(*Input)
		state State
		want  string
		next  string // the first command
	}{
		"one that is well": {given: func(in *Input) { in.BackedUp(func(*inspect.BackupStatusView) {}) }, state: Ready, want: "nothing is blocked: the cluster matches its spec"},
		"one without agents": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) { unasked(v, "no backup agent runs and is ready"); v.Agents.Ready = 0 })
			},
			state: Blocked, want: "fdbbackup/nightly has no agents: 0 of 2 agents ready: nothing is written, and what is restorable is unknown", next: "kubectl fdb plan fdbbackup/nightly",
		},
		"one whose agents do not start": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					unasked(v, "no backup agent runs and is ready")
					v.Agents.Ready, v.Agents.Pods = 0, []inspect.BackupAgentView{{Pod: "agent-1", Phase: "Pending"}}
				})
			},
			state: Blocked, want: "what is restorable is unknown; pod agent-1 is Pending and not ready", next: "kubectl describe pod agent-1",
		},
		"one that does not tell": {
			given: func(in *Input) { in.BackedUp(func(v *inspect.BackupStatusView) { unasked(v, "timed out") }) },
			state: Unknown, want: "fdbbackup/nightly has an unknown state: timed out", next: "kubectl fdb backup status nightly",
		},
		"one that is behind": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.LatestRestorable.AgeSeconds = new(int64(3960))
					Problem(v, "agents encounter errors: 'Platform error'", "the newest restorable point is 66m old, more than 10m")
				})
			},
			state: Blocked, want: "fdbbackup/nightly is behind: agents encounter errors: 'Platform error'", next: "kubectl fdb backup status nightly",
		},
		"one that a user paused": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.Paused = new(true)
					Problem(v, "all agents of the database are paused")
				})
			},
			state: Blocked, want: "fdbbackup/nightly is paused: all agents of the database are paused", next: "kubectl fdb plan fdbbackup/nightly",
		},
		"one that was left paused, as it asks": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.Desired, v.Paused, v.LatestRestorable.AgeSeconds = "Paused", new(true), new(int64(7200))
				})
			},
			state: Blocked, want: "fdbbackup/nightly is paused, as specified: the newest restorable point is 120m old, more than 10m", next: "kubectl fdb backup resume nightly",
		},
		"one that was left paused amid a move, as it asks": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.Desired, v.Paused, v.Restorable, v.LatestRestorable = "Paused", new(true), new(false), nil
					v.Move = &inspect.BackupMoveView{BehindSeconds: new(int64(7200))}
				})
			},
			state: Blocked, want: "fdbbackup/nightly is paused, as specified: the newest change in the backup is 120m old, more than 10m", next: "kubectl fdb backup resume nightly",
		},
		"one that was just paused, as it asks": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) { v.Desired, v.Paused = "Paused", new(true) })
			},
			state: Ready, want: "nothing is blocked: the cluster matches its spec",
		},
		"one whose first snapshot is being written": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.Restorable, v.LatestRestorable = new(false), nil
					Problem(v, "the first snapshot is not complete")
				})
			},
			state: Waiting, want: "fdbbackup/nightly is not restorable yet for 4m: the first snapshot is not complete", next: "kubectl fdb backup status nightly",
		},
		"one whose first snapshot meets errors": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.Restorable, v.LatestRestorable = new(false), nil
					Problem(v, "agents encounter errors: 'Platform error'", "the first snapshot is not complete")
				})
			},
			state: Blocked, want: "fdbbackup/nightly is not restorable yet: agents encounter errors: 'Platform error'", next: "kubectl fdb backup status nightly",
		},
		"one that was ended manually": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) { v.Running = new(false); Problem(v, "no backup runs on tag default") })
			},
			state: Blocked, want: "fdbbackup/nightly does not run: no backup runs on tag default", next: "kubectl fdb plan fdbbackup/nightly",
		},
		"one that should have ended": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) { v.Desired = "Stopped"; Problem(v, "it still runs") })
			},
			state: Blocked, want: "fdbbackup/nightly still runs", next: "kubectl fdb plan fdbbackup/nightly",
		},
		"one that misses an agent": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					v.Agents.Ready = 1
					Problem(v, "1 of 2 agents ready")
				})
			},
			state: Blocked, want: "fdbbackup/nightly has too few agents: 1 of 2 agents ready", next: "kubectl fdb backup status nightly",
		},
		"one that is to be stopped, and has no agents to ask": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) {
					unasked(v, "no backup agent runs and is ready")
					v.Desired, v.Agents = "Stopped", inspect.BackupAgentsView{}
				})
			},
			state: Ready, want: "nothing is blocked: the cluster matches its spec",
		},
		"none that the database's own chain explains": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) { unasked(v, "timed out") })
				in.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			},
			state: Unknown, want: "database does not answer: timed out", next: "kubectl fdb status sample",
		},
		"a restore that runs": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{State: new("running"), Done: new(false), Percent: new(37.0), BlocksDone: new(int64(37)), BlocksTotal: new(int64(100))})
			},
			state: Waiting, want: "fdbrestore/again is in progress, and the database is locked: 37%, 37 of 100 blocks", next: "kubectl fdb restore status again -w",
		},
		"a restore whose agents are paused": {
			given: func(in *Input) {
				in.BackedUp(func(v *inspect.BackupStatusView) { v.Desired, v.Paused = "Paused", new(true) })
				backups := in.Backups.Backups
				in.restoring(inspect.RestoreStatusView{State: new("queued"), Done: new(false)})
				in.Backups.Backups = backups
			},
			state: Blocked, want: "and the database is locked: all agents of the database are paused, so it does not continue", next: "kubectl fdb backup resume nightly",
		},
		"a restore that meets errors": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{State: new("running"), Done: new(false), LastError: "'Platform error'"})
			},
			state: Blocked, want: "agents have not read the backup yet; its last error: 'Platform error'", next: "kubectl fdb restore status again -w",
		},
		"a restore that ended without completing": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{State: new(fdb.RestoreAborted), Done: new(false), Over: true, Summary: "it was aborted, which unlocked the database"})
			},
			state: Blocked, want: "fdbrestore/again ended without completing: it was aborted", next: "kubectl fdb restore status again",
		},
		"a restore that was aborted, by its status": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{UnknownReason: "no backup agent runs and is ready", RecordedState: fdb.RestoreAborted})
			},
			state: Blocked, want: "fdbrestore/again was aborted, by its status", next: "kubectl fdb restore status again",
		},
		"a restore whose state is unknown": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{UnknownReason: "no backup agent runs and is ready", RecordedState: "running"})
			},
			state: Unknown, want: "fdbrestore/again has an unknown state: no backup agent runs and is ready", next: "kubectl fdb restore status again",
		},
		"a restore without agents to start it": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{UnknownReason: "no backup agent runs and is ready"})
			},
			state: Blocked, want: "fdbrestore/again is not started, by its status: no backup agent runs and is ready", next: "kubectl fdb restore status again",
		},
		"a restore that was not started": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{State: new(""), Done: new(false), Summary: "it is not started yet"})
			},
			state: Ready, want: "fdbrestore/again is not started: it is not started yet", next: "kubectl fdb why fdbrestore/again",
		},
		"a restore that is done": {
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{State: new(fdb.RestoreCompleted), Done: new(true), Over: true, UID: "u"})
			},
			state: Ready, want: "nothing is blocked: the cluster matches its spec",
		},
		"a restore that left the database locked": {
			given: func(in *Input) {
				in.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "u"}
				in.restoring(inspect.RestoreStatusView{State: new(fdb.RestoreCompleted), Done: new(true), Over: true, UID: "u"})
			},
			state: Blocked, want: "fdbrestore/again completed, and left the database locked: the lock is the restore's, u", next: "kubectl fdb restore status again",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := HealthyInput(t)
			tc.given(&in)
			v := NewReport(inspect.Metadata{Cluster: "sample", Namespace: "fdb"}, in)
			if v.State != tc.state || !strings.Contains(v.Summary, tc.want) {
				t.Errorf("%s: %s, want %s: %s", v.State, v.Summary, tc.state, tc.want)
			}
			if got := append(v.Next, "")[0]; got != tc.next {
				t.Errorf("next %q, want %q", got, tc.next)
			}
		})
	}
}

// A restore that runs explains what the rest waits for; a backup that is behind comes after
// what keeps the cluster itself from being well.
func TestWhyListsRestoresFirstAndBackupsLast(t *testing.T) {
	in := HealthyInput(t)
	in.Unschedulable("storage-1", 10*time.Minute)
	in.BackedUp(func(v *inspect.BackupStatusView) { v.Running = new(false); Problem(v, "no backup runs on tag default") })
	backups := in.Backups.Backups
	in.restoring(inspect.RestoreStatusView{State: new("running"), Done: new(false)})
	in.Backups.Backups = backups
	var subjects []string
	for _, c := range NewReport(inspect.Metadata{Cluster: "sample"}, in).Items {
		subjects = append(subjects, c.Subjects...)
	}
	at := func(s string) int { return slices.Index(subjects, s) }
	if at("fdbrestore/again") != 0 || at("storage-1") != 1 || at("fdbbackup/nightly") != 2 {
		t.Errorf("got %v", subjects)
	}
}

func TestWhyOfAProcessGroupDoesNotMentionBackups(t *testing.T) {
	in := HealthyInput(t)
	in.Only = []v1beta2.ProcessGroupID{"storage-1"}
	in.BackedUp(func(v *inspect.BackupStatusView) { v.Running = new(false); Problem(v, "no backup runs on tag default") })
	if v := NewReport(inspect.Metadata{Cluster: "sample"}, in); v.State != Ready {
		t.Errorf("%s: %s", v.State, v.Summary)
	}
}

func TestWhyWarnsOfUnreadableBackups(t *testing.T) {
	in := HealthyInput(t)
	in.BackedUp(func(*inspect.BackupStatusView) {})
	in.Backups.Unread = "forbidden: list restores"
	in.Backups.Backups[0].View, in.Backups.Backups[0].Unread = nil, "forbidden: get deployments"
	v := NewReport(inspect.Metadata{Cluster: "sample"}, in)
	want := []string{"backups and restores could not be read: forbidden: list restores", "backup nightly could not be read: forbidden: get deployments"}
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.State != Ready {
		t.Errorf("%s %s", v.State, diff)
	}
}

func TestWhyOfARestoreReportsWhatAPassWaitsFor(t *testing.T) {
	in := HealthyInput(t)
	in.restoring(inspect.RestoreStatusView{State: new(""), Done: new(false), Summary: "it is not started yet"})
	in.Cluster, in.Database = nil, plan.DatabaseFacts{}
	in.Hold("StartRestore", "the database has data", true)
	v := NewResourceWhyReport(inspect.Metadata{Cluster: "fdbrestore/again"}, in)
	if v.State != Blocked || v.Summary != "fdbrestore/again is not reconciled: the database has data" || v.Next[0] != "kubectl fdb plan fdbrestore/again -o wide" {
		t.Errorf("%s: %s, next %v", v.State, v.Summary, v.Next)
	}
}

// Of a restore that is done the lock of the database shows whether it left it locked.
func TestWhyReportsThatNothingBlocksARestoreOnlyIfThatIsKnown(t *testing.T) {
	tests := map[string]struct {
		lock  *fdb.LockState
		given func(*Input)
		state State
		want  string
	}{
		"the database is not locked": {lock: &fdb.LockState{}, state: Ready, want: "nothing is blocked, and no action is pending"},
		"it left the database locked": {
			lock: &fdb.LockState{Locked: true, LockUID: "u"}, state: Blocked, want: "fdbrestore/again completed, and left the database locked",
		},
		"another user locked it":   {lock: &fdb.LockState{Locked: true, LockUID: "v"}, state: Ready, want: "nothing is blocked"},
		"the status does not tell": {state: Unknown, want: "cannot determine whether the database is left locked: its status does not report it"},
		"the database does not answer": {
			given: func(in *Input) { in.Database = plan.DatabaseFacts{Unreachable: "timed out"} },
			state: Unknown, want: "cannot determine whether the database is left locked: timed out",
		},
		"backups could not be listed": {
			lock: &fdb.LockState{}, given: func(in *Input) { in.Backups.Unread = "forbidden: list" },
			state: Unknown, want: "backups and restores could not be read: forbidden: list",
		},
		"no agents tell its UID": {
			lock: &fdb.LockState{Locked: true, LockUID: "u"},
			given: func(in *Input) {
				in.restoring(inspect.RestoreStatusView{UnknownReason: "no agents", RecordedState: fdb.RestoreCompleted})
			},
			state: Unknown, want: "the database is locked, and cannot determine whether by the restore: no agents",
		},
		"another one is under way": {
			lock: &fdb.LockState{},
			given: func(in *Input) {
				r := &v1beta2.FoundationDBRestore{}
				r.Name = "other"
				in.Backups.Restores = append(in.Backups.Restores, inspect.SeenRestore{Resource: r, View: &inspect.RestoreStatusView{Name: "other", State: new("running"), Done: new(false)}})
			},
			state: Ready, want: "nothing is blocked",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := HealthyInput(t)
			in.Cluster, in.Database.Status.Cluster.DatabaseLockState = nil, tc.lock
			in.restoring(inspect.RestoreStatusView{State: new(fdb.RestoreCompleted), Done: new(true), Over: true, UID: "u"})
			if tc.given != nil {
				tc.given(&in)
			}
			v := NewResourceWhyReport(inspect.Metadata{Cluster: "fdbrestore/again"}, in)
			if v.State != tc.state || !strings.Contains(v.Summary, tc.want) {
				t.Errorf("%s: %s, want %s: %s", v.State, v.Summary, tc.state, tc.want)
			}
			if known := tc.state != Unknown; known != (len(v.Warnings) == 0) {
				t.Errorf("warnings %q", v.Warnings)
			}
		})
	}
}
