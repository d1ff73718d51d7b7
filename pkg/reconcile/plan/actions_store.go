package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// deletionAtMost bounds what deletes from a store: files go one by one, and a backup can have
// very many.
const deletionAtMost = time.Hour

// ExpireBackup deletes what a backup has of before a version.
type ExpireBackup struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
	// Before is the first version that stays.
	Before int64 `json:"before"`
	// Snapshots go, and their Bytes with them.
	Snapshots int   `json:"snapshots"`
	Bytes     int64 `json:"bytes"`
	// RestorableFrom is the first version that can be restored afterwards; nil for none.
	RestorableFrom *int64 `json:"restorableFrom"`
	// Force has the tools do it though nothing can be restored afterwards.
	Force bool `json:"force"`
}

// Describe implements Action. It says all that matters: what was approved is known by its
// words.
func (a ExpireBackup) Describe() string {
	after := "nothing can be restored afterwards, until another snapshot is complete"
	if a.RestorableFrom != nil {
		after = fmt.Sprintf("afterwards version %d is the first that can be restored", *a.RestorableFrom)
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

// ClearBackupData deletes all that a backup wrote, and leaves its record.
type ClearBackupData struct {
	Backup string `json:"backup"`
	URL    string `json:"url"`
	// Snapshots go, and their Bytes with them.
	Snapshots int   `json:"snapshots"`
	Bytes     int64 `json:"bytes"`
	// RestorableFrom and RestorableTo are what can be restored before that; nil for nothing.
	RestorableFrom *int64 `json:"restorableFrom"`
	RestorableTo   *int64 `json:"restorableTo"`
	// UpTo is the newest version of anything that is there; 0 where nothing has one.
	UpTo int64 `json:"upTo"`
}

// Describe implements Action. It says all that matters: what was approved is known by its
// words.
func (a ClearBackupData) Describe() string {
	lost := "of which nothing can be restored"
	if a.RestorableFrom != nil && a.RestorableTo != nil {
		lost = fmt.Sprintf("from which versions %d to %d can be restored until then", *a.RestorableFrom, *a.RestorableTo)
	}
	return fmt.Sprintf("permanently delete all data of the backup at %s: %s with %s, and the log, up to version %d, %s",
		fdb.WithoutSecrets(a.URL), phrase.Count(a.Snapshots, "snapshot"), phrase.Count(a.Bytes, "byte"), a.UpTo, lost)
}

// Subject implements Action.
func (a ClearBackupData) Subject() string { return a.Backup }

func (ClearBackupData) effect() Effect {
	return Effect{Stale: BackupStore | Database, Impact: DataLoss, AtMost: deletionAtMost}
}
