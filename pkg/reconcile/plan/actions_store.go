package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// deletionAtMost bounds deletions from a store: files are deleted one by one, and a backup can
// have very many.
const deletionAtMost = time.Hour

// ExpireBackup deletes the data of a backup before a version.
type ExpireBackup struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
	// Before is the first version that stays.
	Before int64 `json:"before"`
	// Snapshots are deleted, with Bytes of data.
	Snapshots int   `json:"snapshots"`
	Bytes     int64 `json:"bytes"`
	// RestorableFrom is the first version that can be restored afterwards; nil for none.
	RestorableFrom *int64 `json:"restorableFrom"`
	// Force expires even if nothing is restorable afterwards.
	Force bool `json:"force"`
}

// Describe implements Action.
func (a ExpireBackup) Describe() string {
	after := "not restorable afterwards, until another snapshot is complete"
	if a.RestorableFrom != nil {
		after = fmt.Sprintf("restorable from version %d afterwards", *a.RestorableFrom)
	}
	text := fmt.Sprintf("delete the data of the backup at %s before version %d: %s with %s, and the log; %s",
		fdb.WithoutSecrets(a.URL), a.Before, phrase.Count(a.Snapshots, "snapshot"), phrase.Count(a.Bytes, "byte"), after)
	if a.Force {
		text += "; forced"
	}
	return text
}

// Subject implements Action.
func (a ExpireBackup) Subject() string { return a.Backup }

func (ExpireBackup) effect() Effect {
	return Effect{Stale: BackupStore | Database, Impact: DataLoss, AtMost: deletionAtMost}
}

// ClearBackupData deletes all that a backup wrote, and keeps its FoundationDBBackup.
type ClearBackupData struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
	// Snapshots are deleted, with Bytes of data.
	Snapshots int   `json:"snapshots"`
	Bytes     int64 `json:"bytes"`
	// RestorableFrom and RestorableTo are the restorable versions before the deletion; nil for none.
	RestorableFrom *int64 `json:"restorableFrom"`
	RestorableTo   *int64 `json:"restorableTo"`
	// UpTo is the newest version of anything in the store; 0 for none.
	UpTo int64 `json:"upTo"`
}

// Describe implements Action.
func (a ClearBackupData) Describe() string {
	lost := "not restorable now"
	if a.RestorableFrom != nil && a.RestorableTo != nil {
		lost = fmt.Sprintf("restorable now from version %d to %d", *a.RestorableFrom, *a.RestorableTo)
	}
	return fmt.Sprintf("permanently delete all data of the backup at %s: %s with %s, and the log, up to version %d, %s",
		fdb.WithoutSecrets(a.URL), phrase.Count(a.Snapshots, "snapshot"), phrase.Count(a.Bytes, "byte"), a.UpTo, lost)
}

// Subject implements Action.
func (a ClearBackupData) Subject() string { return a.Backup }

func (ClearBackupData) effect() Effect {
	return Effect{Stale: BackupStore | Database, Impact: DataLoss, AtMost: deletionAtMost}
}
