package backup

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// SetBackupState returns a stage that sets spec.backupState; the stages of the backup's pass then
// carry that out.
func SetBackupState(state v1beta2.BackupState) plan.Stage {
	return setBackupState(state, func(v1beta2.BackupState) bool { return true })
}

// SetActiveBackupState does the same for a backup that is not stopped: a paused backup is started
// as well, so pausing or resuming a stopped one would begin another backup.
func SetActiveBackupState(state v1beta2.BackupState) plan.Stage {
	return setBackupState(state, func(now v1beta2.BackupState) bool { return now != v1beta2.BackupStateStopped })
}

func setBackupState(state v1beta2.BackupState, mayFollow func(v1beta2.BackupState) bool) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSetBackupState,
		Reads: plan.Backup,
		Decide: func(s plan.Snapshot) plan.Decision {
			b := s.Backup
			switch {
			case b.DeletionTimestamp != nil:
				return held("the resource is being deleted")
			case !b.IsManaged():
				return held("spec.backupType is unmanaged: only the agents of this backup are reconciled")
			case !mayFollow(b.Spec.BackupState):
				return held("spec.backupState is Stopped: there is no backup to pause or resume; start begins another backup")
			case orRunning(b.Spec.BackupState) == state:
				return plan.Decision{}
			}
			return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.SetBackupState{Backup: b.Name, State: state}}}
		},
	}
}

func held(reason string) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupStateRefused, Reason: reason, Manual: true}}
}

// RestoreAt returns the stages of a restore's pass that restore a time: they set the version in the
// spec, and start the restore with no other one.
func RestoreAt(at time.Time) []plan.Stage {
	return []plan.Stage{setRestoreVersion(at), updateRestoreStatus, startRestoreAt(at), updateRestoreStatus}
}

// setRestoreVersion returns the stage that sets spec.backupVersion to the version of a time. What was
// chosen before for the same time stays: estimates of times change while a backup runs.
func setRestoreVersion(at time.Time) plan.Stage {
	return plan.Stage{
		Name:    plan.StageSetRestoreVersion,
		Reads:   plan.Restore,
		More:    plan.RestoreTimes,
		Matters: func(s plan.Snapshot) bool { return !isChosen(s, at) && !WasStarted(s.Restore) },
		Decide: func(s plan.Snapshot) plan.Decision {
			switch r := s.Restore; {
			case isChosen(s, at):
				return plan.Decision{}
			case r.DeletionTimestamp != nil:
				return timeRefused("the resource is being deleted")
			case WasStarted(r):
				return timeRefused("the restore was started before, and not for " + rfc3339(at) + ": a restore is started once; to restore another time, delete and recreate the resource")
			}
			return chooseVersion(s, at)
		},
	}
}

// startRestoreAt is startRestore once the spec has the version of a time. A restore that begins
// cannot be changed, and the latest version may have the mistake that the time is before.
func startRestoreAt(at time.Time) plan.Stage {
	stage, start := startRestore, startRestore.Decide
	matters := startRestore.Matters
	stage.Matters = func(s plan.Snapshot) bool { return isChosen(s, at) && matters(s) }
	stage.Decide = func(s plan.Snapshot) plan.Decision {
		if !isChosen(s, at) {
			return plan.WaitBehind(restoreDelay, plan.HoldRestoreTimeUnknown, "spec.backupVersion is not the version of "+rfc3339(at)+" yet")
		}
		return start(s)
	}
	return stage
}

func isChosen(s plan.Snapshot, at time.Time) bool {
	chosen, ok := plan.RestoreTimeOf(s.Restore)
	return ok && chosen.Time.Equal(at)
}

// chooseVersion decides which version is of a time, or why none is.
func chooseVersion(s plan.Snapshot, at time.Time) plan.Decision {
	facts := s.RestoreTimes
	switch {
	case facts.Foreign != "":
		return timeRefused("cannot determine which version is of " + rfc3339(at) + ": " + facts.Foreign)
	case !facts.Read:
		return plan.Wait(restoreDelay, plan.HoldRestoreTimeUnknown, "cannot determine which version is of "+rfc3339(at)+": "+facts.Why())
	case facts.There == nil:
		return timeRefused("the source of the restore has no backup")
	}
	check, moment := timeCheck(facts.There, at)
	if !check.OK {
		return plan.Decision{Checks: []plan.Check{check}, Hold: &plan.Hold{
			Code: plan.HoldRestoreTimeRefused, Reason: rfc3339(at) + " cannot be restored", Detail: check.Evidence, Manual: true, Then: plan.EndPass,
		}}
	}
	set := plan.SetRestoreVersion{
		Restore: s.Restore.Name, Before: s.Restore.Spec.BackupVersion, Earlier: moment.Earlier,
		Chosen: plan.RestoreTime{Time: at.UTC(), Version: moment.Version},
	}
	return plan.Decision{Why: plan.RequestedByUser, Checks: []plan.Check{check}, Actions: []plan.Action{set}}
}

// timeCheck checks whether a time can be restored, and names the times that can.
func timeCheck(there *fdb.BackupDescription, at time.Time) (plan.Check, fdb.Moment) {
	c := plan.Check{ID: plan.CheckRestoreTime, Question: "can the requested time be restored?", Gate: plan.GateRestore}
	span, some := there.RestorableSpan()
	moment, ok := there.At(at)
	switch {
	case !some:
		c.Evidence = "no snapshot is complete with its log"
	case !span.Timed():
		c.Evidence = fmt.Sprintf("versions %d to %d can be restored, and the database has recorded too few of their times: set spec.backupVersion instead", span.From, span.To)
	case !ok:
		c.Evidence = "restorable is " + spanWords(span)
	default:
		c.OK, c.Evidence = true, fmt.Sprintf("at most about %s earlier, and never later; restorable is %s", phrase.Duration(moment.Earlier), spanWords(span))
	}
	return c, moment
}

func spanWords(span fdb.RestorableSpan) string {
	return fmt.Sprintf("%s (version %d) to %s (version %d)", rfc3339(span.FromTime), span.From, rfc3339(span.ToTime), span.To)
}

func rfc3339(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// timeRefused is a hold that ends the pass: nothing is restored instead.
func timeRefused(reason string) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldRestoreTimeRefused, Reason: reason, Manual: true, Then: plan.EndPass}}
}

// Restricted returns stages of a pass over a backup that end it first if the restrictions of the run forbid the
// pod template of the agents; the same stages without restrictions.
func Restricted(r objects.TemplateRestrictions, all []plan.Stage) []plan.Stage {
	if r.None() {
		return all
	}
	return slices.Insert(slices.Clone(all), 0, plan.Stage{
		Name:   plan.StageCheckTemplates,
		Reads:  plan.Backup,
		Decide: func(s plan.Snapshot) plan.Decision { return readings.TemplatesAllowed(r.OfBackup(s.Backup)) },
	})
}
