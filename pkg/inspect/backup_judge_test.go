package inspect

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RestorableBackup is a backup that runs, can be restored, and is the resource's own.
func RestorableBackup(lag *int64) BackupFacts {
	f := BackupFacts{Own: plan.Check{OK: true}, MaxLag: DefaultMaxLag}
	f.Backup = &v1beta2.FoundationDBBackup{}
	f.Backup.Spec.AgentCount = new(0)
	f.BackupStatus.Status = &fdb.BackupStatus{
		Tag: "default", UID: "1", Restorable: new(true), LatestRestorable: &fdb.BackupMoment{Version: 7, LagSeconds: lag},
	}
	f.BackupStatus.Status.State.Name, f.BackupStatus.Status.State.Running = fdb.BackupDifferential, true
	return f
}

// Unknown is not 0: a limit is kept only by what is known to be within it.
func TestAnUnknownBackupLagDoesNotCountAsWithinTheLimit(t *testing.T) {
	tests := map[string]struct {
		lag  *int64
		good bool
		says string
	}{
		"one that is known and small": {new(int64(20)), true, "up to 20s ago"},
		"one that is too large":       {new(int64(3600)), false, "more than 10m"},
		"an unknown one":              {nil, false, "the age of the newest restorable point is unknown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := NewBackupStatusView(Metadata{}, RestorableBackup(tt.lag))
			if v.Reconciled == nil || *v.Reconciled != tt.good || !strings.Contains(v.Summary, tt.says) {
				t.Errorf("reconciled %v: %s", v.Reconciled, v.Summary)
			}
		})
	}
}
