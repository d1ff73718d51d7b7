package live_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// An invariant that cannot fail guards nothing. Each is broken here by a plugin that is wrong
// in one way, and no other invariant speaks up.
func TestEveryInvariantOfBackupsCanFail(t *testing.T) {
	quiet := happens(func(*backupHistory) {})
	tests := map[string]struct {
		breaks string
		steps  []backupStep
		wrong  wrongBackup
	}{
		"a plugin starts a backup without a read": {
			breaks: neverTwice, steps: []backupStep{quiet, quiet, quiet},
			wrong: also(inTurnOf("nightly", plan.StartBackup{Start: fdb.BackupStart{Tag: "default", URL: nightlyPlace, Period: time.Hour, Continuous: true}}), raw),
		},
		"a plugin aborts whatever is on its tag": {
			neverIncompatiblePeers,
			[]backupStep{happens(func(h *backupHistory) { h.strangeBackup("default") }), quiet, quiet},
			inTurnOf("nightly", plan.StopBackup{Tag: "default", Abort: true}),
		},
		"a plugin makes room for a restore": {
			neverOverData,
			[]backupStep{quiet, quiet, quiet, quiet},
			wrongBackup{cluster: func(h *backupHistory, w clusterOfBackups) clusterOfBackups {
				return acting{trusting{w}, func(a plan.Action) {
					if _, ok := a.(plan.StartRestore); ok {
						h.run("fdbcli", "-C", agentClusterFile, "--exec", `writemode on; clearrange "" \xff`)
					}
				}}
			}},
		},
		"a plugin forgets that it restored": {
			onceRestored,
			[]backupStep{quiet, quiet, happens((*backupHistory).deleteData), quiet, happens((*backupHistory).deleteData), quiet},
			wrongBackup{cluster: func(_ *backupHistory, w clusterOfBackups) clusterOfBackups { return forgetful{trusting{w}} }},
		},
		"a plugin deletes the data of a backup that stays": {
			onlyOwnData,
			[]backupStep{happens(func(h *backupHistory) {
				h.edit("nightly", func(b *v1beta2.FoundationDBBackupSpec) { b.BackupState = v1beta2.BackupStateRunning })
			}), quiet, quiet},
			inTurnOf("nightly", plan.DeleteBackupData{Backup: "nightly", URL: nightlyPlace}),
		},
		"a plugin puts the secret into a command": {
			noSecrets,
			[]backupStep{quiet, quiet},
			wrongBackup{cluster: func(h *backupHistory, w clusterOfBackups) clusterOfBackups {
				return acting{w, func(a plan.Action) {
					if _, ok := a.(plan.StartBackup); ok {
						h.run("fdbbackup", "describe", "-d", "blobstore://key:"+storeSecret+"@store:443/x?bucket=fdb-backups")
					}
				}}
			}},
		},
		"a plugin takes the database's word after a move": {
			neverPraised,
			[]backupStep{quiet, quiet, happens(func(h *backupHistory) {
				h.edit("nightly", func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.BackupName = "nightly-b" })
			}), quiet, quiet},
			wrongBackup{cluster: func(_ *backupHistory, w clusterOfBackups) clusterOfBackups { return believing{w} }},
		},
		"a plugin starts no backup": {
			comesToRest,
			[]backupStep{quiet},
			wrongBackup{stages: func(_ *backupHistory, all []plan.Stage) []plan.Stage {
				return slices.DeleteFunc(all, func(s plan.Stage) bool { return s.Name == "StartBackup" })
			}},
		},
	}
	proven := map[string]bool{}
	for name, tc := range tests {
		proven[tc.breaks] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var story bytes.Buffer
			var broken []string
			for _, v := range (backupLife{steps: tc.steps}).play(t, tc.wrong, &story) {
				broken = append(broken, v.sentence)
			}
			slices.Sort(broken)
			if diff := cmp.Diff([]string{tc.breaks}, slices.Compact(broken)); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%s", diff, story.String())
			}
			if found := (backupLife{steps: tc.steps}).play(t, wrongBackup{}, nil); len(found) > 0 {
				t.Errorf("a plugin that is right breaks %v", found)
			}
		})
	}
	for _, sentence := range backupInvariants {
		if !proven[sentence] {
			t.Errorf("nothing here breaks: %s", sentence)
		}
	}
}

const nightlyPlace = "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"

// happens is a step of a minute in which something happens.
func happens(what func(*backupHistory)) backupStep {
	return backupStep{problem: backupProblem{happen: func(h *backupHistory, _ *rand.Rand) { what(h) }}, wait: time.Minute}
}

// inTurnOf adds a stage at the end of passes over a resource that wants an action without a
// reason.
func inTurnOf(name string, a plan.Action) wrongBackup {
	return wrongBackup{stages: func(h *backupHistory, all []plan.Stage) []plan.Stage {
		if h.turn != name {
			return all
		}
		return append(all, plan.Stage{Name: "Rogue", Reads: plan.Backup | plan.BackupStatus, Decide: func(s plan.Snapshot) plan.Decision {
			if s.BackupStatus.Status == nil {
				return plan.Decision{} // no agent could be asked to do it
			}
			return plan.Decision{Why: "it is wrong", Actions: []plan.Action{a}}
		}})
	}}
}

func also(w wrongBackup, cluster func(*backupHistory, clusterOfBackups) clusterOfBackups) wrongBackup {
	w.cluster = cluster
	return w
}

// acting does something besides each action, and before it.
type acting struct {
	clusterOfBackups
	first func(plan.Action)
}

// Act implements reconcile.Actor.
func (w acting) Act(ctx context.Context, a plan.Action) error {
	w.first(a)
	return w.clusterOfBackups.Act(ctx, a)
}

// raw starts backups without the look that the tools' user takes right before.
func raw(h *backupHistory, w clusterOfBackups) clusterOfBackups { //nolint:ireturn // a seam for wrong worlds
	return acting{w, func(a plan.Action) {
		if start, ok := a.(plan.StartBackup); ok {
			h.run(start.Start.Command(fdb.Version{Major: 7, Minor: 3, Patch: 79})...)
		}
	}}
}

// run runs a program as a pass does, whatever comes of it.
func (h *backupHistory) run(argv ...string) {
	_, _ = historyTransport{h}.Run(h.t.Context(), admin.Command{Argv: argv, Limit: time.Minute})
}

// believing records what the database reports, wherever the backup goes.
type believing struct{ clusterOfBackups }

// Act implements reconcile.Actor.
func (w believing) Act(ctx context.Context, a plan.Action) error {
	if written, ok := a.(plan.WriteBackupStatus); ok && written.Move != "" {
		written.Status.BackupDetails.Restorable, a = true, written
	}
	return w.clusterOfBackups.Act(ctx, a)
}

// trusting takes the target of every restore for empty, so that the plugin does not end at
// its own look at the target.
type trusting struct{ clusterOfBackups }

// Observe implements reconcile.Observer.
func (w trusting) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	err := w.clusterOfBackups.Observe(ctx, into, facets)
	if facets&plan.RestoreTarget != 0 {
		into.RestoreTarget = plan.TargetFacts{Read: true}
	}
	return err
}

// forgetful reads restores without what was recorded of them.
type forgetful struct{ clusterOfBackups }

// Observe implements reconcile.Observer.
func (w forgetful) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	err := w.clusterOfBackups.Observe(ctx, into, facets)
	if into.Restore != nil {
		into.Restore.Status = v1beta2.FoundationDBRestoreStatus{}
	}
	return err
}
