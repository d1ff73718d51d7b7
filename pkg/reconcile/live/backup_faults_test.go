package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// mortal is a run that ends at one of its actions.
type mortal struct {
	clusterOfBackups
	left  *int // actions until the end
	after bool // the last action is carried out, and its answer is lost
	dead  bool
}

var errKilled = errors.New("the run was killed")

// Act implements reconcile.Actor.
func (m *mortal) Act(ctx context.Context, a plan.Action) error {
	if m.dead {
		return errKilled
	}
	if *m.left--; *m.left > 0 {
		return m.clusterOfBackups.Act(ctx, a)
	}
	m.dead = true
	if m.after {
		_ = m.clusterOfBackups.Act(ctx, a) // the answer is lost
	}
	return errKilled
}

// reportsOf is what a pass reports, as text.
func reportsOf(v *vault, w clusterOfBackups, all []plan.Stage, into *strings.Builder) reconcile.PassDone {
	p := reconcile.Pass{Stages: all, Observer: w, Actor: w, Seed: 42, Report: func(e reconcile.Event) {
		fmt.Fprintf(into, "%+v\n", e)
		if d, ok := e.(reconcile.StageDecided); ok {
			for _, a := range d.Actions {
				fmt.Fprintln(into, a.Describe(), a.Subject())
			}
		}
	}}
	done, err := p.Run(v.t.Context())
	if err != nil {
		fmt.Fprintln(into, err)
	}
	return done
}

// fresh is the same backup in the hands of another run.
func (v *vault) fresh() *live.BackupCluster {
	w := live.NewBackup(live.Options{
		Client: v.backup.Client, Holder: v.backup.Holder, Clock: v.backup.Clock, Transport: v.backup.Transport,
	})
	w.Key = nightlyKey
	return w
}

// life takes a backup from nothing over a change to its end, each time until a pass has
// nothing to do, and returns how the last pass of each part ended. The run is killed at its
// n-th action.
func (v *vault) life(n int, after bool, words *strings.Builder) (killed bool) {
	v.t.Helper()
	left := n
	var w clusterOfBackups = &mortal{clusterOfBackups: v.fresh(), left: &left, after: after}
	settle := func() {
		v.t.Helper()
		for range 20 {
			done := reportsOf(v, w, backup.Backup(), words)
			if m, ok := w.(*mortal); ok && m.dead {
				w, killed = v.fresh(), true
			} else if done.Outcome == reconcile.Done {
				return
			}
			v.runDeployments()
			v.nodes.FDB.Advance(15 * time.Second)
		}
		v.t.Fatalf("killed at action %d (carried out %t), it never settles:\n%s", n, after, words)
	}
	settle()
	v.change(func(b *v1beta2.FoundationDBBackup) {
		b.Spec.SnapshotPeriodSeconds, b.Spec.BackupState = new(3600), v1beta2.BackupStatePaused
	})
	settle()
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped })
	settle()
	return killed
}

// Whatever a run is killed at, the next one finishes; there is never a second backup, and
// no secret is ever printed, run or recorded.
func TestABackupCompletesIfARunIsKilledBetweenAnyTwoActions(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			v := newVault(t)
			var words strings.Builder
			killed := v.life(n, after, &words)
			for _, argv := range v.ran {
				if slices.ContainsFunc(argv, func(a string) bool { return strings.Contains(a, storeSecret) }) {
					t.Errorf("ran %v", argv)
				}
			}
			if b := v.theBackup(); b.Status.BackupDetails.Running || b.Status.Generations.Reconciled != b.Generation {
				t.Errorf("killed at action %d: %+v", n, b.Status)
			}
			if got := count(v.ran, "start"); got != 1 {
				t.Errorf("killed at action %d (carried out %t): %d backups were started", n, after, got)
			}
			if strings.Contains(words.String(), storeSecret) || strings.Contains(fmt.Sprintf("%+v", v.theBackup()), storeSecret) {
				t.Errorf("killed at action %d: the secret was printed or recorded", n)
			}
			if !killed {
				break // the run had fewer actions than that
			}
		}
	}
}

// count is how often a command of the backup tools was run.
func count(ran [][]string, command string) int {
	n := 0
	for _, argv := range ran {
		if len(argv) > 1 && argv[1] == command {
			n++
		}
	}
	return n
}
