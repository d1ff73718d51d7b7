package cluster

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// compareBackupGenerations compares what a backup waits for before its generation counts as
// reconciled. The database reports the state in the recorded status.
func compareBackupGenerations(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		Self v1beta2.FoundationDBBackup `json:"self"`
	}
	var out struct {
		R0    bool                       `json:"r0"`
		After v1beta2.FoundationDBBackup `json:"after_self"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := plan.Snapshot{Backup: &in.Self}
	live := &fdb.BackupStatus{Tag: string(in.Self.Tag())}
	if seen := in.Self.Status.BackupDetails; seen != nil {
		live.UID, live.URL, live.AgentsPaused, live.SnapshotSeconds = "recorded", seen.URL, seen.Paused, new(int64(seen.SnapshotTime))
		live.State.Running = seen.Running
	}
	s.BackupStatus.Status = live
	generations := backup.Generations(s, in.Self.Status)
	return opcases.Outcome{"reconciled": fmt.Sprint(out.R0), "generations": opcases.JSON(out.After.Status.Generations)},
		opcases.Outcome{"reconciled": fmt.Sprint(generations.Reconciled == in.Self.Generation), "generations": opcases.JSON(generations)}, nil
}
