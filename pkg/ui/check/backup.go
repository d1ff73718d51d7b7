package check

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backups are the rules about how the backups of the cluster are doing.
func backups() []Rule {
	return []Rule{
		{
			Code: "BACKUP-001", Severity: Error, Title: "Every backup has an agent that is ready",
			Why:  "Agents write backups, and the tools run in their pods: without any nothing is written, and nobody can tell how the backup is.",
			find: eachBackup(withoutAgents),
		},
		{
			Code: "BACKUP-002", Severity: Warning, Title: "Every backup has all of its agents",
			Why:  "Fewer agents than the spec asks for write more slowly.",
			find: eachBackup(fewAgents),
		},
		{
			Code: "BACKUP-003", Severity: Error, Title: "Every backup runs where its spec asks for it, and only there",
			Why:  "It was ended by hand, was never started, or another backup has taken its tag; or it goes on although it should be over. A pass over the backup says what it would do.",
			find: eachToldBackup(runsOtherwise),
		},
		{
			Code: "BACKUP-004", Severity: Error, Title: "Every backup is known to be close behind the database",
			Why:  "What was written since the newest point that can be restored is lost with the database, and where nobody knows how much that is it may be all. Agents are too few, or the store does not take what they write.",
			find: eachToldBackup(lags),
		},
		{
			Code: "BACKUP-005", Severity: Warning, Title: "Every backup that runs can be restored from where it goes",
			Why:  "Until its first snapshot is complete a backup is good for nothing, and after a move nothing can be restored from the new place before a whole snapshot that began there is complete, whatever the database says. Passes over the backup note how far that is.",
			find: eachToldBackup(notRestorableYet),
		},
		{
			Code: "BACKUP-006", Severity: Error, Title: "No first snapshot takes longer than the period of snapshots",
			Why:  "The backup has been good for nothing all that time. Agents are too few, or the store does not take what they write.",
			find: eachToldBackup(notRestorableForLong),
		},
		{
			Code: "BACKUP-007", Severity: Warning, Title: "The last snapshot of every backup is no older than its period",
			Why:  "A restore starts with a snapshot and plays all changes since: the older it is the longer that takes, and what is older cannot be expired.",
			find: eachToldBackup(oldSnapshot),
		},
		{
			Code: "BACKUP-008", Severity: Error, Title: "Agents pause only where the spec asks for it",
			Why:  "Somebody paused all agents of the database: no backup goes on, and the database keeps every change that they have not written.",
			find: eachToldBackup(pausedUnasked),
		},
		{
			Code: "BACKUP-009", Severity: Info, Title: "No backup was left paused",
			Why:  "Its spec asks for it, for more than an hour. The database keeps every change that agents have not written, which takes space.",
			find: eachToldBackup(leftPaused),
		},
	}
}

const (
	// snapshotGrace is how much longer than its period a snapshot may take, in percent: they
	// are paced to the period, and end a little after it.
	snapshotGrace = 25
	// longPause is from when on a pause that is asked for was perhaps forgotten.
	longPause = time.Hour
)

// eachBackup asks a question about every backup of the cluster.
func eachBackup(find func(f Facts, v ui.BackupStatusView) []Finding) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		if f.Backups.Unread != "" {
			return nil, "backups could not be read: " + f.Backups.Unread
		}
		var found []Finding
		var unread reasons
		for _, b := range f.Backups.Backups {
			if b.View == nil {
				unread.add(backup(b.Record.Name), b.Unread)
				continue
			}
			found = append(found, find(f, *b.View)...)
		}
		return found, unread.String()
	}
}

// eachToldBackup asks a question that only the database answers, of the backups that are
// looked after.
func eachToldBackup(find func(f Facts, v ui.BackupStatusView) []Finding) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		var untold reasons
		found, unread := eachBackup(func(f Facts, v ui.BackupStatusView) []Finding {
			switch {
			case !f.isManaged(v.Name):
				return nil
			case v.UnknownReason != "":
				untold.add(backup(v.Name), v.UnknownReason)
				return nil
			}
			return find(f, v)
		})(f)
		untold.add("", unread)
		return found, untold.String()
	}
}

func (f Facts) isManaged(name string) bool {
	for _, b := range f.Backups.Backups {
		if b.Record.Name == name {
			return b.Record.IsManaged()
		}
	}
	return false
}

// backup is a record of a backup as a subject.
func backup(name string) string { return "foundationdbbackup/" + name }

// about is a finding about one backup, with what a pass over it would do as what to look at.
func about(v ui.BackupStatusView, format string, args ...any) []Finding {
	return one(backup(v.Name), fmt.Sprintf(format, args...), "fdb", "reconcile", "fdbbackup/"+v.Name, "--dry-run")
}

// seen is a finding about one backup that a pass does not mend, with what agents met.
func seen(v ui.BackupStatusView, format string, args ...any) []Finding {
	message := fmt.Sprintf(format, args...)
	if len(v.LastErrors) > 0 {
		message += "; agents meet errors: " + strings.Join(v.LastErrors, ", ")
	}
	return one(backup(v.Name), message, "fdb", "backup", "status", v.Name)
}

// isStopped reports whether the spec asks for no backup. One that is complete as it was
// meant to be is over as well.
func isStopped(v ui.BackupStatusView) bool {
	return v.Desired == string(v1beta2.BackupStateStopped) || v.Mode == string(v1beta2.BackupModeOneTime) && ptr.Deref(v.Restorable, false) && !ptr.Deref(v.Running, false)
}

// goesOn reports whether a backup runs that is to run, and is not paused.
func goesOn(v ui.BackupStatusView) bool {
	return !isStopped(v) && ptr.Deref(v.Running, false) && !ptr.Deref(v.Paused, false)
}

func withoutAgents(_ Facts, v ui.BackupStatusView) []Finding {
	if isStopped(v) || v.Agents.Desired == 0 || v.Agents.Ready > 0 {
		return nil
	}
	return about(v, "no agent is ready, of %d that its spec asks for", v.Agents.Desired)
}

func fewAgents(_ Facts, v ui.BackupStatusView) []Finding {
	if isStopped(v) || v.Agents.Ready == 0 || v.Agents.Ready >= v.Agents.Desired {
		return nil
	}
	return about(v, "%s %s ready", phrase.CountOf(v.Agents.Ready, v.Agents.Desired, "agent"), phrase.EitherOf(v.Agents.Ready, v.Agents.Desired, "is", "are"))
}

func runsOtherwise(_ Facts, v ui.BackupStatusView) []Finding {
	switch {
	case isStopped(v) && ptr.Deref(v.Running, false):
		return about(v, "it still runs, and its spec asks for none")
	case isStopped(v):
		return nil
	case !ptr.Deref(v.Running, false):
		return about(v, "no backup runs on tag %s", v.Tag)
	case !ptr.Deref(v.Own, false):
		return seen(v, "another backup runs on its tag %s, to %s", v.Tag, v.URL)
	case len(v.Outstanding) > 0:
		return about(v, "%s", strings.Join(v.Outstanding, "; "))
	}
	return nil
}

func lags(_ Facts, v ui.BackupStatusView) []Finding {
	words := v.LagWords(ui.DefaultMaxLag)
	if !goesOn(v) || words == "" {
		return nil
	}
	return seen(v, "%s", words)
}

func notRestorableYet(f Facts, v ui.BackupStatusView) []Finding {
	if isStopped(v) || !ptr.Deref(v.Running, false) || ptr.Deref(v.Restorable, false) || len(notRestorableForLong(f, v)) > 0 {
		return nil
	}
	if v.Move != nil {
		return about(v, "%s", v.Move.Why)
	}
	found := seen(v, "nothing can be restored yet: its first snapshot is not complete")
	if s := v.Snapshot; s != nil && s.BeganAt != nil {
		found[0].Since = *s.BeganAt
	}
	return found
}

func notRestorableForLong(f Facts, v ui.BackupStatusView) []Finding {
	s := v.Snapshot
	if isStopped(v) || !ptr.Deref(v.Running, false) || ptr.Deref(v.Restorable, false) || s == nil || s.BeganAt == nil || s.PeriodSeconds == nil {
		return nil
	}
	took, allowed := f.Now.Sub(*s.BeganAt), seconds(*s.PeriodSeconds)
	if v.Move != nil { // it is one of many, paced to the period
		allowed = longest(allowed)
	}
	if took <= allowed {
		return nil
	}
	found := seen(v, "nothing can be restored: its snapshot was begun %s ago, and one is to take %s", phrase.Duration(took), phrase.Seconds(*s.PeriodSeconds))
	found[0].Since = *s.BeganAt
	return found
}

func oldSnapshot(_ Facts, v ui.BackupStatusView) []Finding {
	s := v.Snapshot
	if !goesOn(v) || s == nil || s.PeriodSeconds == nil || s.LastComplete == nil || s.LastComplete.AgeSeconds == nil {
		return nil
	}
	period, age := seconds(*s.PeriodSeconds), seconds(*s.LastComplete.AgeSeconds)
	if age <= longest(period) {
		return nil
	}
	return seen(v, "its last snapshot is %s old, and one is to take %s", phrase.Duration(age), phrase.Duration(period))
}

// longest is how long a snapshot takes at most that is paced to a period.
func longest(period time.Duration) time.Duration {
	return period + period*snapshotGrace/100 + ui.DefaultMaxLag
}

func pausedUnasked(_ Facts, v ui.BackupStatusView) []Finding {
	if !ptr.Deref(v.Paused, false) || v.Desired == string(v1beta2.BackupStatePaused) || isStopped(v) {
		return nil
	}
	return about(v, "all agents of the database are paused, and its spec asks for %s", v.Desired)
}

func leftPaused(_ Facts, v ui.BackupStatusView) []Finding {
	point := v.LatestRestorable
	if !ptr.Deref(v.Paused, false) || v.Desired != string(v1beta2.BackupStatePaused) || point == nil || point.AgeSeconds == nil || seconds(*point.AgeSeconds) < longPause {
		return nil
	}
	return one(backup(v.Name), fmt.Sprintf("it is paused, and the newest point that can be restored is %s old", phrase.Seconds(*point.AgeSeconds)), "fdb", "backup", "resume", v.Name)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
