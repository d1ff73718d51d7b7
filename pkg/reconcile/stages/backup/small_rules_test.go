package backup

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestBackupStoreUsesAreReadOnlyBeforeADeletion compares for which backups the database is read.
func TestBackupStoreUsesAreReadOnlyBeforeADeletion(t *testing.T) {
	kept := func(s *plan.Snapshot) { s.Backup.Finalizers = []string{v1beta2.FinalizerBackup} }
	for name, tc := range map[string]struct {
		given change
		want  bool
	}{
		"a deleted backup that has ended":   {changed(hasFinished, deleting, kept), true},
		"one that runs":                     {changed(deleting, kept), false},
		"one without the finalizer":         {changed(hasFinished, deleting, func(s *plan.Snapshot) { s.Backup.Finalizers = nil }), false},
		"one that stays":                    {changed(hasFinished, kept), false},
		"one of which nothing is known":     {changed(hasFinished, deleting, kept, unasked), false},
		"one that stays, without finalizer": {changed(hasFinished, func(s *plan.Snapshot) { s.Backup.Finalizers = nil }), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := runningBackup(t)
			tc.given(&s)
			if got := usesMatter(s); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}
