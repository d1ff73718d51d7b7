package backup

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A status that is written is described by what differs, and by nothing that stays.
func TestChangesOfABackupsStatusAreNamed(t *testing.T) {
	details := func(edit func(*v1beta2.FoundationDBBackupStatusBackupDetails)) func(*v1beta2.FoundationDBBackupStatus) {
		return func(s *v1beta2.FoundationDBBackupStatus) { edit(s.BackupDetails) }
	}
	tests := map[string]struct {
		edit func(*v1beta2.FoundationDBBackupStatus)
		// before and after are the progress of a move.
		before, after string
	}{
		"1 agent ready":                {edit: func(s *v1beta2.FoundationDBBackupStatus) { s.AgentCount = 1 }},
		"deployment configured: false": {edit: func(s *v1beta2.FoundationDBBackupStatus) { s.DeploymentConfigured = false }},
		"running: false":               {edit: details(func(d *v1beta2.FoundationDBBackupStatusBackupDetails) { d.Running = false })},
		"paused: true":                 {edit: details(func(d *v1beta2.FoundationDBBackupStatusBackupDetails) { d.Paused = true })},
		"restorable: false":            {edit: details(func(d *v1beta2.FoundationDBBackupStatusBackupDetails) { d.Restorable = false })},
		"a snapshot every 60 s":        {edit: details(func(d *v1beta2.FoundationDBBackupStatusBackupDetails) { d.SnapshotTime = 60 })},
		"destination: blobstore://b":   {edit: details(func(d *v1beta2.FoundationDBBackupStatusBackupDetails) { d.URL = "blobstore://b" })},
		"generation 4 reconciled":      {edit: func(s *v1beta2.FoundationDBBackupStatus) { s.Generations.Reconciled = 4 }},
		"progress of its move":         {before: "half", after: "most"},
		"its move is over":             {before: "half"},
		"what the spec waits for":      {edit: func(s *v1beta2.FoundationDBBackupStatus) { s.Generations.NeedsBackupStart = 4 }},
	}
	for want, tc := range tests {
		t.Run(want, func(t *testing.T) {
			s := runningBackup(t)
			s.Backup.Annotations = map[string]string{plan.AnnotationBackupMove: tc.before}
			fresh := *s.Backup.Status.DeepCopy()
			if tc.edit != nil {
				tc.edit(&fresh)
			}
			if diff := cmp.Diff([]string{want}, backupChanges(s, fresh, tc.after)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
