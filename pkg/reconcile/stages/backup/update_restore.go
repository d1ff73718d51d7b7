package backup

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// AbortRestore returns the stages that abort a restore and record that.
func AbortRestore() []plan.Stage { return []plan.Stage{abortRestore, recordAborted} }

// abortRestore aborts the restore that the resource started while it runs. A restore whose
// state is unknown, or that may belong to another resource, is left alone.
var abortRestore = plan.Stage{
	Name:  plan.StageAbortRestore,
	Reads: plan.Restore | plan.RestoreStatus | plan.OtherRestores,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !WasStarted(s.Restore) {
			return held("nothing to abort: the resource has not started its restore")
		}
		if why := s.RestoreStatus.Why(); why != "" {
			return plan.Wait(restoreDelay, plan.HoldRestoreStateUnknown, "cannot determine whether the restore runs: "+why)
		}
		live := OwnRestore(s)
		switch {
		case live == nil && s.Restore.Status.State == v1beta2.RestoreStateAborted:
			return plan.Decision{}
		case live == nil:
			return held("nothing to abort: the database does not list the restore of this resource")
		case live.State == fdb.RestoreAborted:
			return plan.Decision{}
		case !live.Active():
			return held("nothing to abort: the restore is " + live.State)
		}
		return abortOf(s, *live)
	},
}

func abortOf(s plan.Snapshot, live fdb.RestoreStatus) plan.Decision {
	alone := checkOwnRestore(s.OtherRestores, s.Restore, live)
	d := plan.Decision{Why: plan.RequestedByUser, Checks: []plan.Check{alone}}
	if !alone.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: "the restore is not aborted", Detail: alone.Evidence}
		return d
	}
	d.Actions = []plan.Action{plan.AbortRestore{
		Restore: s.Restore.Name, Cluster: s.Restore.Spec.DestinationClusterName,
		Tag: live.Tag, UID: live.UID, URL: fdb.WithoutSecrets(live.URL), Version: live.Version,
	}}
	return d
}

// checkOwnRestore returns whether no other resource may have started the restore: all use
// one tag, and may restore from one destination.
func checkOwnRestore(others plan.OtherRestoreFacts, own *v1beta2.FoundationDBRestore, live fdb.RestoreStatus) plan.Check {
	c := plan.Check{ID: plan.CheckOwnRestore, Question: "is the running restore started by no other FoundationDBRestore?", Gate: plan.GateRestore}
	if !others.Read {
		c.Evidence = "unknown: " + orNotRead(others.NotRead)
		return c
	}
	for i := range others.All {
		other := &others.All[i]
		if other.Spec.DestinationClusterName == own.Spec.DestinationClusterName && WasStarted(other) && mayHaveStarted(other, live) {
			c.Evidence = "FoundationDBRestore " + other.Name + " may have started it: it restores the same backup, and its status does not report an end"
			return c
		}
	}
	c.OK, c.Evidence = true, "no other started and unfinished resource restores the same backup"
	return c
}

// recordAborted records in the status that the restore was aborted. A user requested it, so
// it needs no intervention. All else is left to passes over the restore.
var recordAborted = plan.Stage{
	Name:  updateRestoreStatus.Name,
	Reads: updateRestoreStatus.Reads,
	Decide: func(s plan.Snapshot) plan.Decision {
		live := OwnRestore(s)
		if s.RestoreStatus.Why() != "" || live == nil || live.Active() {
			return plan.Decision{}
		}
		d := updateRestoreStatus.Decide(s)
		if d.Hold = nil; live.State != fdb.RestoreAborted {
			return held("the restore is " + live.State + ", not aborted")
		}
		return d
	},
}

// Restore returns the stages of a restore's pass in the order they run.
func Restore() []plan.Stage {
	return []plan.Stage{updateRestoreStatus, startRestore, updateRestoreStatus}
}

// restoreTag is the tag of all restores of this kind: the default of the tools.
const restoreTag = "default"

// WasStarted reports whether the status of a resource records that its restore was started,
// whatever its state.
func WasStarted(r *v1beta2.FoundationDBRestore) bool { return r.Status.Running || r.Status.State != "" }

// OwnRestore returns the restore that the resource started; nil when the database does not list
// it. A finished restore stays listed, and another resource may have started it: its source and
// version identify it. A running one does not belong to a resource whose restore is over:
// nothing is started twice. One that is over does not belong to a resource whose restore was
// never observed: it may be an older one of the same destination.
func OwnRestore(s plan.Snapshot) *fdb.RestoreStatus {
	if !WasStarted(s.Restore) {
		return nil
	}
	for i, r := range s.RestoreStatus.All {
		if mayHaveStarted(s.Restore, r) {
			return &s.RestoreStatus.All[i]
		}
	}
	return nil
}

// mayHaveStarted reports whether a restore matches the spec and status of a resource.
func mayHaveStarted(restore *v1beta2.FoundationDBRestore, r fdb.RestoreStatus) bool {
	url, err := objects.RestoreURL(restore)
	version := restore.Spec.BackupVersion
	return err == nil && r.Tag == restoreTag && fdb.SameBackupURL(r.URL, url) &&
		(version == nil || uint64(r.Version) == *version) && //nolint:gosec // versions are not negative
		(!isOver(restore) || !r.Active()) && (!isUnseen(restore) || r.Active())
}

// isUnseen reports whether the resource's restore was never observed in the database: its start
// was recorded and never confirmed, or the database did not list it. No live restore is both
// queued and not running.
func isUnseen(restore *v1beta2.FoundationDBRestore) bool {
	return restore.Status == plan.RestoreNoted() || restore.Status == v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateUnknown}
}

// isOver reports whether the status of a resource records that its restore is over.
func isOver(restore *v1beta2.FoundationDBRestore) bool {
	return restore.Status.State == v1beta2.RestoreStateCompleted || restore.Status.State == v1beta2.RestoreStateAborted
}

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
