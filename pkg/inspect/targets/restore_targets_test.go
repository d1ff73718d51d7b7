package targets

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// What an abort leaves is printed as it was seen: nothing is called unlocked without an answer.
func TestRestoreAbortReportsTheRemainingDataAndLock(t *testing.T) {
	own := fdb.RestoreStatus{UID: "1", State: fdb.RestoreAborted, BytesWritten: 21 << 20, BlocksDone: 16, BlocksTotal: 100}
	queued := fdb.RestoreStatus{UID: "1", State: fdb.RestoreAborted}
	lock := func(locked bool, uid string) plan.DatabaseFacts {
		s := &fdb.Status{}
		s.Cluster.DatabaseLockState = &fdb.LockState{Locked: locked, LockUID: uid}
		return plan.DatabaseFacts{Status: s}
	}
	tests := map[string]struct {
		own      fdb.RestoreStatus
		database plan.DatabaseFacts
		want     []string
	}{
		"half of the data":   {own, lock(false, ""), []string{"part of the data is in the database: 21MiB, 16 of 100 blocks", "the database is not locked"}},
		"none of the data":   {queued, lock(false, ""), []string{"had not reported any written data", "the database is not locked"}},
		"another's lock":     {own, lock(true, "2"), []string{"still locked by 2, which is not this restore"}},
		"its own lock":       {own, lock(true, "1"), []string{"still locked by this restore"}},
		"unknown":            {own, plan.DatabaseFacts{Unreachable: "timed out"}, []string{"cannot determine whether the database is still locked: timed out"}},
		"a silent document":  {own, plan.DatabaseFacts{Status: &fdb.Status{}}, []string{"it does not report that"}},
		"whoever locked it ": {own, lock(true, ""), []string{"by an unknown UID"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := plan.Snapshot{Restore: &v1beta2.FoundationDBRestore{}, RestoreStatus: plan.RestoreFacts{Read: true}, Database: tt.database}
			got := RestoreAborted(s, &tt.own)
			for _, want := range tt.want {
				if !got.Reached || !strings.Contains(got.Note, want) {
					t.Errorf("want %q in %+v", want, got)
				}
			}
			if strings.Contains(got.Note, "unlock ") {
				t.Errorf("a lock is offered to be taken off: %s", got.Note)
			}
		})
	}
}
