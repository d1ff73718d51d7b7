package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// AbortRestore lists the stages that end a restore, and record that.
func AbortRestore() []plan.Stage { return []plan.Stage{abortRestore, recordAborted} }

// abortRestore ends the restore that the record started, while it goes on. What nobody can
// tell, and what may be another record's, is left alone.
var abortRestore = plan.Stage{
	Name:  plan.StageAbortRestore,
	Reads: plan.Restore | plan.RestoreStatus | plan.OtherRestores,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !WasStarted(s.Restore) {
			return held("the record says that its restore was never started: there is nothing to abort")
		}
		if why := s.RestoreStatus.Why(); why != "" {
			return plan.Wait(restoreDelay, plan.HoldRestoreStateUnknown, "nobody can tell whether the restore runs: "+why)
		}
		live := OwnRestore(s)
		switch {
		case live == nil && s.Restore.Status.State == v1beta2.RestoreStateAborted:
			return plan.Decision{}
		case live == nil:
			return held("the database does not know of the restore that the record started: there is nothing to abort")
		case live.State == fdb.RestoreAborted:
			return plan.Decision{}
		case !live.Active():
			return held("the restore is " + live.State + ": there is nothing to abort")
		}
		return abortOf(s, *live)
	},
}

func abortOf(s plan.Snapshot, live fdb.RestoreStatus) plan.Decision {
	alone := nobodyElseRestores(s.OtherRestores, s.Restore, live)
	d := plan.Decision{Why: "a person asks for it", Checks: []plan.Check{alone}}
	if !alone.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Reason: "nothing is aborted", Detail: alone.Words()}
		return d
	}
	d.Actions = []plan.Action{plan.AbortRestore{
		Restore: s.Restore.Name, Cluster: s.Restore.Spec.DestinationClusterName,
		Tag: live.Tag, UID: live.UID, URL: fdb.WithoutSecrets(live.URL), Version: live.Version,
	}}
	return d
}

// nobodyElseRestores asks whether another record may have started the restore: all use one
// tag, and may restore from one place.
func nobodyElseRestores(others plan.OtherRestoreFacts, own *v1beta2.FoundationDBRestore, live fdb.RestoreStatus) plan.Check {
	c := plan.Check{ID: plan.CheckOwnRestore, Question: "was the restore that runs started by no other FoundationDBRestore?", Gate: plan.GateRestore}
	if !others.Read {
		c.Evidence = "nobody can tell: " + orNotAsked(others.NotRead)
		return c
	}
	for i := range others.All {
		other := &others.All[i]
		if other.Spec.DestinationClusterName == own.Spec.DestinationClusterName && WasStarted(other) && mayHaveStarted(other, live) {
			c.Evidence = "FoundationDBRestore " + other.Name + " may have started it as well: it restores the same, and is not recorded to be over"
			return c
		}
	}
	c.OK, c.Evidence = true, "none that was started, and is not over, restores the same"
	return c
}

// recordAborted records that the restore was aborted. That is what was asked for, and
// nothing that a person has to help with. All else is left to passes over the restore.
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
			return held("the restore is " + live.State + ", and was not aborted")
		}
		return d
	},
}
