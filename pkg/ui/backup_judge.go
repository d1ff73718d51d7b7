package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// judge says whether the backup is as its spec asks. Without an answer of the database
// nobody can tell, whatever was recorded.
func (v *BackupStatusView) judge(f BackupFacts) {
	v.judgeAgents(f)
	if !f.Backup.IsManaged() {
		v.conclude("its agents run; the backup itself is not looked after: its type is unmanaged")
		return
	}
	if v.UnknownReason != "" {
		v.Summary = "nobody can tell how the backup is: " + v.UnknownReason
		return
	}
	switch {
	case v.Desired == string(v1beta2.BackupStateStopped):
		v.judgeStopped()
	case f.isComplete():
		v.conclude("it is complete, as a backup of mode " + v.Mode + " is meant to be" + v.restorableWords())
		return
	default:
		v.judgeRunning(f)
	}
	v.conclude(v.goodWords())
}

func (v *BackupStatusView) judgeAgents(f BackupFacts) {
	if f.Backup.DeletionTimestamp != nil {
		v.problem("the record is being deleted")
	}
	if v.Agents.Ready < v.Agents.Desired {
		v.problem("%s %s ready", phrase.CountOf(v.Agents.Ready, v.Agents.Desired, "agent"), phrase.EitherOf(v.Agents.Ready, v.Agents.Desired, "is", "are"))
	}
}

// judgeStopped finds nothing wrong with a backup that ended before its move was over: that
// was told before, and cannot be mended.
func (v *BackupStatusView) judgeStopped() {
	if *v.Running {
		v.problem("it still runs")
	}
	if *v.Paused {
		v.problem("all agents of the database are paused, so restores do not go on either")
	}
}

func (v *BackupStatusView) judgeRunning(f BackupFacts) {
	wantsPause := v.Desired == string(v1beta2.BackupStatePaused)
	switch {
	case !*v.Running:
		v.problem("no backup runs on tag %s", v.Tag)
		return
	case !f.Own.OK:
		v.problem("%s", f.foreignWords())
	}
	for _, words := range f.Outstanding {
		v.problem("%s", words)
	}
	if *v.Paused != wantsPause {
		v.problem("%s", map[bool]string{true: "all agents of the database are paused", false: "the agents are not paused"}[*v.Paused])
	}
	if len(v.LastErrors) > 0 {
		v.problem("agents meet errors: %s", strings.Join(v.LastErrors, ", "))
	}
	switch {
	case v.Move != nil:
		v.problem("%s", v.Move.Why)
	case !*v.Restorable:
		v.problem("nothing can be restored yet: the first snapshot is not complete")
		return
	}
	if words := v.LagWords(f.MaxLag); words != "" && !*v.Paused {
		v.problem("%s", words)
	}
}

// LagWords say that a backup which can be restored, or was moved, is further behind the
// database than that, or that nobody knows whether it is; empty where neither is so, and
// before a first snapshot, when there is nothing to be behind with.
func (v *BackupStatusView) LagWords(limit time.Duration) string {
	what := "the newest point that can be restored"
	if v.Move != nil {
		what = "the newest change that agents wrote"
	}
	switch lag, known := v.lag(); {
	case known && lag > limit:
		return fmt.Sprintf("%s is %s old, more than %s", what, phrase.Duration(lag), phrase.Duration(limit))
	case !known && v.Restorable != nil && *v.Restorable:
		return fmt.Sprintf("the database does not tell how old %s is, so nobody knows whether that is more than %s", what, phrase.Duration(limit))
	}
	return ""
}

// lag is how old the newest restorable point is, or how far the log of a backup that was
// moved is behind; false when nobody knows.
func (v *BackupStatusView) lag() (time.Duration, bool) {
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
		v.Summary = "not as its resource asks: " + strings.Join(v.Problems, "; ")
	}
}

func (v *BackupStatusView) goodWords() string {
	words := map[string]string{
		string(v1beta2.BackupStateRunning): "it runs",
		string(v1beta2.BackupStatePaused):  "it is paused, as its resource asks",
		string(v1beta2.BackupStateStopped): "it does not run, as its resource asks",
	}[v.Desired]
	return words + v.restorableWords()
}

func (v *BackupStatusView) restorableWords() string {
	point := v.LatestRestorable
	lag, known := v.lag()
	switch {
	case v.Move != nil:
		return "; " + v.Move.Why
	case point == nil:
		return ""
	case !known:
		return fmt.Sprintf(", and can be restored up to version %d", point.Version)
	default:
		return fmt.Sprintf(", and can be restored up to %s ago", phrase.Duration(lag))
	}
}
