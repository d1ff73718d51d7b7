package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// judge decides whether the backup matches its spec. Without an answer of the database that
// is unknown, whatever the status of the resource has.
func (v *BackupStatusView) judge(f BackupFacts) {
	for _, field := range v.InvalidSpec {
		v.problem("the spec is invalid: %s", field.Message)
	}
	v.judgeAgents(f)
	if !f.Backup.IsManaged() {
		v.conclude("its agents run; the backup itself is not managed: its type is unmanaged")
		return
	}
	if v.UnknownReason != "" && len(v.InvalidSpec) > 0 {
		v.conclude("")
		return
	}
	if v.UnknownReason != "" {
		v.Summary = "cannot determine the state of the backup: " + v.UnknownReason
		return
	}
	switch {
	case v.Desired == string(v1beta2.BackupStateStopped):
		v.judgeStopped()
	case f.IsComplete():
		v.conclude("it is complete, as specified by mode " + v.Mode + v.restorableWords())
		return
	default:
		v.judgeRunning(f)
	}
	v.conclude(v.goodWords())
}

func (v *BackupStatusView) judgeAgents(f BackupFacts) {
	if f.Backup.DeletionTimestamp != nil {
		v.problem("the resource is being deleted")
	}
	if v.Agents.Ready < v.Agents.Desired {
		v.problem("%s %s ready", phrase.CountOf(v.Agents.Ready, v.Agents.Desired, "agent"), phrase.EitherOf(v.Agents.Ready, v.Agents.Desired, "is", "are"))
	}
}

// judgeStopped accepts a backup that ended before its move was complete: that was reported
// before, and cannot be fixed.
func (v *BackupStatusView) judgeStopped() {
	if *v.Running {
		v.problem("it still runs")
	}
	if *v.Paused {
		v.problem("all agents of the database are paused, so restores do not continue either")
	}
}

func (v *BackupStatusView) judgeRunning(f BackupFacts) {
	wantsPause := v.Desired == string(v1beta2.BackupStatePaused)
	switch {
	case !*v.Running:
		v.problem("no backup runs on tag %s", v.Tag)
		return
	case !f.Own.OK:
		v.problem("%s", f.ForeignWords())
	}
	for _, words := range f.Outstanding {
		v.problem("%s", words)
	}
	if *v.Paused != wantsPause {
		v.problem("%s", map[bool]string{true: "all agents of the database are paused", false: "the agents are not paused"}[*v.Paused])
	}
	if len(v.LastErrors) > 0 {
		v.problem("agents encounter errors: %s", strings.Join(v.LastErrors, ", "))
	}
	switch {
	case v.Move != nil:
		v.problem("%s", v.Move.Why)
	case !*v.Restorable:
		v.problem("the first snapshot is not complete")
		return
	}
	if words := v.LagWords(f.MaxLag); words != "" && !*v.Paused {
		v.problem("%s", words)
	}
}

// LagWords returns by how much a restorable or moved backup exceeds the limit of how far it may
// be behind the database, or that its lag is unknown; empty where neither holds, and before
// the first snapshot.
func (v *BackupStatusView) LagWords(limit time.Duration) string {
	what := "the newest restorable point"
	if v.Move != nil {
		what = "the newest change in the backup"
	}
	switch lag, known := v.Lag(); {
	case known && lag > limit:
		return fmt.Sprintf("%s is %s old, more than %s", what, phrase.Duration(lag), phrase.Duration(limit))
	case !known && v.Restorable != nil && *v.Restorable:
		return fmt.Sprintf("the age of %s is unknown: the database does not report it; the limit is %s", what, phrase.Duration(limit))
	}
	return ""
}

// Lag returns how old the newest restorable point is, or how far the log of a moved backup is
// behind; false when that is unknown.
func (v *BackupStatusView) Lag() (time.Duration, bool) {
	var age *int64
	switch {
	case v.Move != nil:
		age = v.Move.BehindSeconds
	case v.LatestRestorable != nil:
		age = v.LatestRestorable.AgeSeconds
	}
	if age == nil {
		return 0, false
	}
	return time.Duration(*age) * time.Second, true
}

func (v *BackupStatusView) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

func (v *BackupStatusView) conclude(good string) {
	v.Reconciled, v.Summary = new(len(v.Problems) == 0), good
	if len(v.Problems) > 0 {
		v.Summary = "does not match its spec: " + strings.Join(v.Problems, "; ")
	}
}

func (v *BackupStatusView) goodWords() string {
	words := map[string]string{
		string(v1beta2.BackupStateRunning): "it runs",
		string(v1beta2.BackupStatePaused):  "it is paused, as specified",
		string(v1beta2.BackupStateStopped): "it does not run, as specified",
	}[v.Desired]
	return words + v.restorableWords()
}

func (v *BackupStatusView) restorableWords() string {
	point := v.LatestRestorable
	lag, known := v.Lag()
	switch {
	case v.Move != nil:
		return "; " + v.Move.Why
	case point == nil:
		return ""
	case !known:
		return fmt.Sprintf(", restorable up to version %d", point.Version)
	default:
		return fmt.Sprintf(", restorable up to %s ago", phrase.Duration(lag))
	}
}

// IsComplete reports whether a one-time backup has ended with a snapshot of its own.
func (f BackupFacts) IsComplete() bool {
	live := f.BackupStatus.Status
	return f.Backup.BackupMode() == v1beta2.BackupModeOneTime && f.Own.OK && !live.State.Running && f.Restorable().OK
}

// Restorable reports whether the backup can be restored from its destination.
func (f BackupFacts) Restorable() plan.Restorability {
	return plan.CanBeRestored(f.Backup, f.BackupStatus.Status)
}

// ForeignWords describes that the backup on the tag belongs to another resource.
func (f BackupFacts) ForeignWords() string {
	return "the backup on tag " + f.BackupStatus.Status.Tag + " does not belong to this resource: " + f.Own.Evidence
}
