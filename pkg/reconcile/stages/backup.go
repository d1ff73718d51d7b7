package stages

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Backup lists the stages of a backup's pass in the order they run. The status comes
// first, for what is known is worth having whatever the rest waits for, and once more at
// the end.
func Backup() []plan.Stage {
	return []plan.Stage{
		carryOutDeletion,
		updateBackupStatus,
		updateBackupAgents,
		startBackup,
		stopBackup,
		toggleBackupPaused,
		modifyBackup,
		updateBackupStatus,
	}
}

// backupDelay is how long agents need at least to start, and a backup to become
// restorable.
const backupDelay = 10 * time.Second

// moveDelay is how long to wait for the next look at a backup that was moved: snapshots take
// hours or days.
const moveDelay = time.Minute

// managed is a stage for backups that are looked after, on an answer of the database:
// without one nothing is known, so nothing is done. Records that are being deleted are
// left to carryOutDeletion.
func managed(name plan.StageName, decide func(plan.Snapshot) plan.Decision) plan.Stage {
	return plan.Stage{
		Name:  name,
		Reads: plan.Backup | plan.BackupStatus,
		Decide: func(s plan.Snapshot) plan.Decision {
			if !s.Backup.IsManaged() || s.Backup.DeletionTimestamp != nil {
				return plan.Decision{}
			}
			if why := s.BackupStatus.Why(); why != "" {
				return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "nobody can tell whether the backup runs: "+why)
			}
			return decide(s)
		},
	}
}

// shouldRun reports whether the backup is to be running: unless it is to be stopped, or
// was to end after the snapshot that it has. What the database says now counts, and not
// only what was recorded of it. Another's snapshot on the tag is none of the record's own.
func shouldRun(s plan.Snapshot) bool {
	b := s.Backup
	if b.BackupMode() == v1beta2.BackupModeOneTime && restorable(s).OK && !isForeign(s) {
		return false
	}
	return b.ShouldRun()
}

// restorable says whether the backup can be restored from where it goes.
func restorable(s plan.Snapshot) plan.Restorability {
	return plan.CanBeRestored(s.Backup, s.BackupStatus.Status)
}

func isRunning(s plan.Snapshot) bool { return s.BackupStatus.Status.State.Running }

// OwnBackup asks whether the backup that the database knows on the tag is the record's own.
// Two records with one tag, or a backup that somebody started by hand, would otherwise be
// ended or moved elsewhere.
func OwnBackup(s plan.Snapshot) plan.Check {
	live := s.BackupStatus.Status
	c := plan.Check{ID: plan.CheckOwnBackup, Subject: live.Tag, Question: "is the backup on tag " + live.Tag + " this record's own?", Gate: plan.GateBackup}
	c.Evidence = "it goes to " + fdb.WithoutSecrets(live.URL)
	c.OK = goesWhereItShould(s.Backup, live.URL)
	if !c.OK {
		c.Evidence += ", which this record neither asks for nor has seen before"
	}
	return c
}

// goesWhereItShould reports whether a place is the one that the spec names, or the one
// where the record's own backup was last seen to go.
func goesWhereItShould(b *v1beta2.FoundationDBBackup, url string) bool {
	if wanted, err := objects.BackupURL(b); err == nil && fdb.SameBackupURL(url, wanted) {
		return true
	}
	seen := b.Status.BackupDetails
	return seen != nil && seen.URL != "" && fdb.SameBackupURL(url, seen.URL)
}

// isForeign reports whether what the database knows on the tag is another's. A tag that
// never had a backup has nobody's.
func isForeign(s plan.Snapshot) bool {
	live := s.BackupStatus.Status
	return live.Known() && !goesWhereItShould(s.Backup, live.URL)
}

// notOurs is the decision about a backup that is not the record's own.
func notOurs(c plan.Check) plan.Decision {
	return plan.Decision{Checks: []plan.Check{c}, Hold: &plan.Hold{
		Code:   plan.HoldNotOwnBackup,
		Reason: c.Words() + "; give one of the two another tag, or end the one that is not wanted", Human: true,
	}}
}

// OutstandingOfBackup says in words in what the record's own backup, which runs, is not yet
// what its spec asks for. Nothing is said of one that nobody can tell about.
func OutstandingOfBackup(s plan.Snapshot) []string {
	if s.BackupStatus.Why() != "" || !s.Backup.IsManaged() || isForeign(s) {
		return nil
	}
	var words []string
	if endsUnasked(s) {
		words = append(words, endsUnaskedWords)
	}
	if needsModification(s) {
		words = append(words, differsWords(s))
	}
	return words
}

// encryptionKey is the key file for the tools. A version that cannot encrypt is an error:
// the operator leaves the key out then, and the backup is readable by anybody.
func encryptionKey(path string, v fdb.Version) (string, error) {
	if path != "" && !v.SupportsBackupEncryption() {
		return "", fmt.Errorf("spec.encryptionKeyPath is set, and FoundationDB %s cannot encrypt backups: that needs 7.3.73, or 7.4.6", v)
	}
	return path, nil
}
