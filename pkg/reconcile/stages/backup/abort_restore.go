package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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
