package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// starts counts the restores that were started.
func (v *vault) starts() int {
	return len(slices.DeleteFunc(slices.Clone(v.ran), func(argv []string) bool {
		return !strings.HasSuffix(argv[0], "fdbrestore") || argv[1] != "start"
	}))
}

// targetReads counts the reads of keys.
func (v *vault) targetReads() int {
	return len(slices.DeleteFunc(slices.Clone(v.ran), func(argv []string) bool {
		return !strings.Contains(strings.Join(argv, " "), "getrangekeys")
	}))
}

// filled is a database with a key, a backup of it, and a restore of this.
func filled(t *testing.T, change func(*v1beta2.FoundationDBRestore)) *vault {
	t.Helper()
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.settleBackup()
	v.nodes.FDB.Advance(time.Minute)
	v.put(newRestore(change))
	v.ran = nil
	return v
}

func ofRanges(ranges ...v1beta2.FoundationDBKeyRange) func(*v1beta2.FoundationDBRestore) {
	return func(r *v1beta2.FoundationDBRestore) { r.Spec.KeyRanges = ranges }
}

func (v *vault) target() plan.TargetFacts {
	v.t.Helper()
	s := plan.Snapshot{}
	if err := v.restore.Observe(v.t.Context(), &s, plan.Restore|plan.RestoreStatus|plan.RestoreTarget); err != nil {
		v.t.Fatal(err)
	}
	return s.RestoreTarget
}

func TestTheRestoreTargetReportsOccupiedRanges(t *testing.T) {
	whole := [][2]string{{`""`, `\xff`}}
	tests := map[string]struct {
		given func(*v1beta2.FoundationDBRestore)
		line  string
		want  plan.TargetFacts
	}{
		"a database with data":    {given: ofRanges(), want: plan.TargetFacts{Read: true, Occupied: whole}},
		"a database without data": {given: ofRanges(), line: `writemode on; clearrange "" \xff`, want: plan.TargetFacts{Read: true}},
		"a range with data": {
			given: ofRanges(v1beta2.FoundationDBKeyRange{Start: "a", End: "b"}, v1beta2.FoundationDBKeyRange{Start: "g", End: "h"}),
			want:  plan.TargetFacts{Read: true, Occupied: [][2]string{{"g", "h"}}},
		},
		"a range beside the data": {given: ofRanges(v1beta2.FoundationDBKeyRange{Start: "a", End: "b"}), want: plan.TargetFacts{Read: true}},
		"a restore that was started": {
			given: func(r *v1beta2.FoundationDBRestore) { r.Status.State = v1beta2.RestoreStateCompleted },
			want:  plan.TargetFacts{NotQueried: "the restore was started before"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := filled(t, tt.given)
			if tt.line != "" {
				v.fdbcli(tt.line)
			}
			v.ran = nil
			got := v.target()
			got.AsOf = time.Time{}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if reads := v.targetReads(); reads > 0 != tt.want.Read {
				t.Errorf("%d reads of keys: %v", reads, v.ran)
			}
		})
	}
}

// Unknown is refused: nothing is started, and nothing is noted in the status.
func TestARestoreIntoAnUnknownTargetIsNotStarted(t *testing.T) {
	v := filled(t, ofRanges())
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.problem = func(argv []string) error {
		if strings.Contains(strings.Join(argv, " "), "getrangekeys") {
			return errors.New("no route")
		}
		return nil
	}
	if done := v.passOver(v.restore, backup.Restore()); done.Outcome != reconcile.Waiting || v.starts() != 0 {
		t.Errorf("%s after %d starts", done.Outcome, v.starts())
	}
	if facts := v.target(); facts.Read || facts.Locked || facts.Why() == "" {
		t.Errorf("facts %+v", facts)
	}
	if status := v.theRestore(); status != (v1beta2.FoundationDBRestoreStatus{}) {
		t.Errorf("status %+v", status)
	}
	v.problem = nil
	if v.passOver(v.restore, backup.Restore()); v.starts() != 1 {
		t.Errorf("%d starts once the target can be read", v.starts())
	}
}

// A database that was locked manually is not read, and fdbrestore would hang.
func TestARestoreIntoALockedDatabaseIsNotStarted(t *testing.T) {
	v := filled(t, ofRanges())
	v.fdbcli(`writemode on; option on ACCESS_SYSTEM_KEYS; set \xff/dbLocked 0123456789012345678901234567`)
	if facts := v.target(); facts.Read || !facts.Locked {
		t.Errorf("facts %+v", facts)
	}
	if done := v.passOver(v.restore, backup.Restore()); done.Outcome != reconcile.Blocked || v.starts() != 0 {
		t.Errorf("%s after %d starts", done.Outcome, v.starts())
	}
}

// outdated reports a target without data, whatever the database holds by now.
type outdated struct{ *live.RestoreCluster }

func (w outdated) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	err := w.RestoreCluster.Observe(ctx, into, facets)
	if facets&plan.RestoreTarget != 0 {
		into.RestoreTarget = plan.TargetFacts{Read: true}
	}
	return err
}

// Data can be written after the read: fdbrestore has the last word.
func TestARestoreNeverOverwritesDataWrittenAfterTheRead(t *testing.T) {
	v := filled(t, ofRanges())
	refused := v.passOver(outdated{v.restore}, backup.Restore())
	if got := fmt.Sprint(refused.Failures); refused.Outcome != reconcile.Blocked || !strings.Contains(got, "non-empty destination database") || v.starts() != 1 {
		t.Errorf("%s after %d starts: %s", refused.Outcome, v.starts(), got)
	}
	if status := v.theRestore(); status.Running || status.State != "" {
		t.Errorf("what was refused is noted as started: %+v", status)
	}
}
