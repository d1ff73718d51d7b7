package backup

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// restoreDelay is the interval between two reads of a restore's state.
const restoreDelay = backupDelay

// updateRestoreStatus records the progress of the restore. Running becomes false when it is over;
// the operator leaves it true forever. While the database does not answer, the last state stays.
var updateRestoreStatus = plan.Stage{
	Name:  plan.StageUpdateRestoreStatus,
	Reads: plan.Restore | plan.RestoreStatus,
	Decide: func(s plan.Snapshot) plan.Decision {
		if why := s.RestoreStatus.Why(); why != "" {
			return plan.Wait(restoreDelay, plan.HoldRestoreStateUnknown, "cannot determine the state of the restore: "+why)
		}
		if !WasStarted(s.Restore) {
			return plan.Decision{}
		}
		fresh := v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateUnknown}
		live := OwnRestore(s)
		if live != nil {
			fresh = v1beta2.FoundationDBRestoreStatus{Running: live.Active(), State: v1beta2.FoundationDBRestoreState(live.State)}
		} else if isOver(s.Restore) { // another restore has replaced it in the list
			return plan.Decision{Hold: restoreHold(s, s.Restore.Status)}
		}
		var d plan.Decision
		if fresh != s.Restore.Status {
			d.Why = "the status differs from the observed state"
			d.Actions = []plan.Action{plan.WriteRestoreStatus{
				Restore: s.Restore.Name, Changes: []string{fmt.Sprintf("the restore is %s", fresh.State)}, Status: fresh,
			}}
		}
		d.Hold = restoreHold(s, fresh)
		return d
	},
}

// restoreHold returns what a started restore waits for.
func restoreHold(s plan.Snapshot, fresh v1beta2.FoundationDBRestoreStatus) *plan.Hold {
	live := OwnRestore(s)
	switch {
	case fresh.State == v1beta2.RestoreStateAborted:
		return &plan.Hold{Code: plan.HoldRestoreAborted, Manual: true, Reason: "the restore was aborted, which unlocked the database with partially restored data; it is never started again: " +
			"to restore again, into a database without data, delete the FoundationDBRestore and create it again"}
	case fresh.State == v1beta2.RestoreStateCompleted:
		return nil
	case live == nil && isUnseen(s.Restore):
		return &plan.Hold{Code: plan.HoldRestoreLost, Manual: true, Reason: "the start of the restore was recorded, but the database does not list it, or lists only one that is over and may be older; " +
			"inspect the data: if there is none, delete the FoundationDBRestore and create it again to restore"}
	case live == nil:
		return &plan.Hold{Code: plan.HoldRestoreLost, Manual: true, Reason: "the status records a started restore, but the database does not list it; " +
			"delete the FoundationDBRestore, inspect the data, and create it again to restore"}
	case !live.Active():
		return nil
	}
	reason := fmt.Sprintf("the restore is %s, %s", live.State, phrase.CountOf(live.BlocksDone, live.BlocksTotal, "block"))
	if live.LastError != "" {
		reason += "; its last error: " + live.LastError
	}
	return &plan.Hold{Code: plan.HoldRestoreRunning, Reason: reason, RetryAfter: restoreDelay}
}
