package stages

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// restoreDelay is how long a restore is left alone between two looks.
const restoreDelay = backupDelay

// updateRestoreStatus records how far the restore is. Running becomes false when it is
// over, which the operator leaves true for ever. While the database cannot be asked, what
// it last said stays.
var updateRestoreStatus = plan.Stage{
	Name:  plan.StageUpdateRestoreStatus,
	Reads: plan.Restore | plan.RestoreStatus,
	Decide: func(s plan.Snapshot) plan.Decision {
		if why := s.RestoreStatus.Why(); why != "" {
			return plan.Wait(restoreDelay, plan.HoldRestoreStateUnknown, "nobody can tell how far the restore is: "+why)
		}
		if !WasStarted(s.Restore) {
			return plan.Decision{}
		}
		fresh := v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateUnknown}
		live := OwnRestore(s)
		if live != nil {
			fresh = v1beta2.FoundationDBRestoreStatus{Running: live.Active(), State: v1beta2.FoundationDBRestoreState(live.State)}
		} else if isOver(s.Restore) { // another restore has taken its place in the list
			return plan.Decision{Hold: restoreHold(s, s.Restore.Status)}
		}
		var d plan.Decision
		if fresh != s.Restore.Status {
			d.Why = "it differs from what was recorded before"
			d.Actions = []plan.Action{plan.WriteRestoreStatus{
				Restore: s.Restore.Name, Changes: []string{fmt.Sprintf("the restore is %s", fresh.State)}, Status: fresh,
			}}
		}
		d.Hold = restoreHold(s, fresh)
		return d
	},
}

// restoreHold says what a restore that was started waits for.
func restoreHold(s plan.Snapshot, fresh v1beta2.FoundationDBRestoreStatus) *plan.Hold {
	live := OwnRestore(s)
	switch {
	case fresh.State == v1beta2.RestoreStateAborted:
		return &plan.Hold{Code: plan.HoldRestoreAborted, Human: true, Reason: "the restore was aborted, which unlocked the database with whatever was written so far in it; it is never started again: " +
			"to restore once more, into a database without data, delete the FoundationDBRestore and create it anew"}
	case fresh.State == v1beta2.RestoreStateCompleted:
		return nil
	case live == nil && isUnseen(s.Restore):
		return &plan.Hold{Code: plan.HoldRestoreLost, Human: true, Reason: "the restore was to be started, and the database does not know of it, or of one that is over and may be older; " +
			"look at the data: if there is none, delete the FoundationDBRestore and create it again to restore"}
	case live == nil:
		return &plan.Hold{Code: plan.HoldRestoreLost, Human: true, Reason: "the record says that its restore was started, and the database does not know of it; " +
			"delete the FoundationDBRestore, look at the data, and create it again to restore"}
	case !live.Active():
		return nil
	}
	reason := fmt.Sprintf("the restore is %s, %s", live.State, phrase.CountOf(live.BlocksDone, live.BlocksTotal, "block"))
	if live.LastError != "" {
		reason += "; its last error: " + live.LastError
	}
	return &plan.Hold{Code: plan.HoldRestoreRunning, Reason: reason, RetryAfter: restoreDelay}
}
