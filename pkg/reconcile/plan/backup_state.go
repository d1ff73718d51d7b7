package plan

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// SetBackupState sets spec.backupState of a FoundationDBBackup. No other field of the spec is
// written.
type SetBackupState struct {
	Backup string              `json:"backup"`
	State  v1beta2.BackupState `json:"state"`
}

// Describe implements Action.
func (a SetBackupState) Describe() string {
	return fmt.Sprintf("set spec.backupState of FoundationDBBackup %s to %s", a.Backup, a.State)
}

// Subject implements Action.
func (a SetBackupState) Subject() string { return a.Backup }

func (SetBackupState) effect() Effect { return Effect{Stale: Backup, Impact: NoImpact} }

// Apply implements Edit.
func (a SetBackupState) Apply(s Snapshot) Snapshot {
	s.Backup = s.Backup.DeepCopy()
	s.Backup.Spec.BackupState = a.State
	return s
}
