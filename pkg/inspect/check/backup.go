package check

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// backups returns the rules about the state of the cluster's backups.
func backups() []Rule {
	return []Rule{
		{
			Code: "BACKUP-001", Severity: Error, Title: "Every backup has a ready agent",
			Why:  "Agents write backups, and the backup tools run in their pods: without an agent nothing is written, and the state of the backup is unknown.",
			Find: eachBackup(withoutAgents),
		},
		{
			Code: "BACKUP-002", Severity: Warning, Title: "Every backup has all of its agents",
			Why:  "With fewer agents than desired a backup is slower.",
			Find: eachBackup(fewAgents),
		},
		{
			Code: "BACKUP-003", Severity: Error, Title: "The state of every backup matches its spec",
			Why:  "It was stopped manually, was never started, or another backup took its tag; or it still runs although it should be stopped. A dry run of a pass over the backup shows what would be done.",
			Find: eachReportedBackup(differsFromSpec),
		},
		{
			Code: "BACKUP-004", Severity: Error, Title: "The lag of every backup is known and short",
			Why:  "Data written after the newest restorable point is lost with the database; if the lag is unknown, that may be all data. There are too few agents, or the store rejects their writes.",
			Find: eachReportedBackup(lags),
		},
		{
			Code: "BACKUP-005", Severity: Warning, Title: "Every running backup is restorable from its destination",
			Why:  "A backup is not restorable before its first snapshot is complete, and after a move not before a whole snapshot that began at the new destination is complete, whatever the database reports. Passes over the backup record the progress.",
			Find: eachReportedBackup(notRestorableYet),
		},
		{
			Code: "BACKUP-006", Severity: Error, Title: "No first snapshot takes longer than the snapshot period",
			Why:  "The backup has not been restorable all that time. There are too few agents, or the store rejects their writes.",
			Find: eachReportedBackup(notRestorableForLong),
		},
		{
			Code: "BACKUP-007", Severity: Warning, Title: "The last snapshot of every backup is no older than its period",
			Why:  "A restore starts with a snapshot and replays all later changes: the older the snapshot, the longer that takes, and the less data can be expired.",
			Find: eachReportedBackup(oldSnapshot),
		},
		{
			Code: "BACKUP-008", Severity: Error, Title: "Agents are paused only if the spec requires it",
			Why:  "A user paused all agents of the database: no backup makes progress, and the database keeps every change that they have not written.",
			Find: eachReportedBackup(unexpectedlyPaused),
		},
		{
			Code: "BACKUP-009", Severity: Info, Title: "No backup is left paused",
			Why:  "The spec has paused it for more than an hour. The database keeps every change that agents have not written, which takes space.",
			Find: eachReportedBackup(leftPaused),
		},
	}
}

const (
	// snapshotGrace is how much longer than its period a snapshot may take, in percent:
	// snapshots are paced to the period, and end a little after it.
	snapshotGrace = 25
	// longPause is the age from which a pause of the spec was perhaps forgotten.
	longPause = time.Hour
)

// eachBackup returns a function that evaluates find on every backup of the cluster.
func eachBackup(find func(f Facts, v inspect.BackupStatusView) []Finding) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		if f.Backups.Unread != "" {
			return nil, "backups could not be read: " + f.Backups.Unread
		}
		var found []Finding
		var unread reasons
		for _, b := range f.Backups.Backups {
			if b.View == nil {
				unread.add(backup(b.Resource.Name), b.Unread)
				continue
			}
			found = append(found, find(f, *b.View)...)
		}
		return found, unread.String()
	}
}

// eachReportedBackup is eachBackup for facts that only the database has, and only for managed
// backups.
func eachReportedBackup(find func(f Facts, v inspect.BackupStatusView) []Finding) func(Facts) ([]Finding, string) {
	return func(f Facts) ([]Finding, string) {
		var unknown reasons
		found, unread := eachBackup(func(f Facts, v inspect.BackupStatusView) []Finding {
			switch {
			case !f.isManaged(v.Name):
				return nil
			case v.UnknownReason != "":
				unknown.add(backup(v.Name), v.UnknownReason)
				return nil
			}
			return find(f, v)
		})(f)
		unknown.add("", unread)
		return found, unknown.String()
	}
}

func (f Facts) isManaged(name string) bool {
	for _, b := range f.Backups.Backups {
		if b.Resource.Name == name {
			return b.Resource.IsManaged()
		}
	}
	return false
}

// backup returns a FoundationDBBackup as a subject.
func backup(name string) string { return "foundationdbbackup/" + name }

// passFinding returns a finding about one backup that a pass may fix: its command is a dry run.
func passFinding(v inspect.BackupStatusView, format string, args ...any) []Finding {
	return one(backup(v.Name), fmt.Sprintf(format, args...), "fdb", "reconcile", "fdbbackup/"+v.Name, "--dry-run")
}

// statusFinding returns a finding about one backup that no pass fixes, with the agents' errors.
func statusFinding(v inspect.BackupStatusView, format string, args ...any) []Finding {
	message := fmt.Sprintf(format, args...)
	if len(v.LastErrors) > 0 {
		message += "; errors of agents: " + strings.Join(v.LastErrors, ", ")
	}
	return one(backup(v.Name), message, "fdb", "backup", "status", v.Name)
}

// isStopped reports whether the spec requires no running backup. A complete one-time backup
// counts as stopped.
func isStopped(v inspect.BackupStatusView) bool {
	return v.Desired == string(v1beta2.BackupStateStopped) || v.Mode == string(v1beta2.BackupModeOneTime) && ptr.Deref(v.Restorable, false) && !ptr.Deref(v.Running, false)
}

// isActive reports whether a backup runs as desired, and is not paused.
func isActive(v inspect.BackupStatusView) bool {
	return !isStopped(v) && ptr.Deref(v.Running, false) && !ptr.Deref(v.Paused, false)
}

func withoutAgents(_ Facts, v inspect.BackupStatusView) []Finding {
	if isStopped(v) || v.Agents.Desired == 0 || v.Agents.Ready > 0 {
		return nil
	}
	return passFinding(v, "%s ready", phrase.CountOf(0, v.Agents.Desired, "agent"))
}

func fewAgents(_ Facts, v inspect.BackupStatusView) []Finding {
	if isStopped(v) || v.Agents.Ready == 0 || v.Agents.Ready >= v.Agents.Desired {
		return nil
	}
	return passFinding(v, "%s ready", phrase.CountOf(v.Agents.Ready, v.Agents.Desired, "agent"))
}

func differsFromSpec(_ Facts, v inspect.BackupStatusView) []Finding {
	switch {
	case isStopped(v) && ptr.Deref(v.Running, false):
		return passFinding(v, "it still runs, %s desired", v1beta2.BackupStateStopped)
	case isStopped(v):
		return nil
	case !ptr.Deref(v.Running, false):
		return passFinding(v, "no backup runs on tag %s", v.Tag)
	case !ptr.Deref(v.Own, false):
		return statusFinding(v, "another backup runs on its tag %s, to %s", v.Tag, v.URL)
	case len(v.Outstanding) > 0:
		return passFinding(v, "%s", strings.Join(v.Outstanding, "; "))
	}
	return nil
}

func lags(_ Facts, v inspect.BackupStatusView) []Finding {
	lag := v.LagWords(inspect.DefaultMaxLag)
	if !isActive(v) || lag == "" {
		return nil
	}
	return statusFinding(v, "%s", lag)
}

func notRestorableYet(f Facts, v inspect.BackupStatusView) []Finding {
	if isStopped(v) || !ptr.Deref(v.Running, false) || ptr.Deref(v.Restorable, false) || len(notRestorableForLong(f, v)) > 0 {
		return nil
	}
	if v.Move != nil {
		return passFinding(v, "%s", v.Move.Why)
	}
	found := statusFinding(v, "not restorable yet: its first snapshot is not complete")
	if s := v.Snapshot; s != nil && s.BeganAt != nil {
		found[0].Since = *s.BeganAt
	}
	return found
}

func notRestorableForLong(f Facts, v inspect.BackupStatusView) []Finding {
	s := v.Snapshot
	if isStopped(v) || !ptr.Deref(v.Running, false) || ptr.Deref(v.Restorable, false) || s == nil || s.BeganAt == nil || s.PeriodSeconds == nil {
		return nil
	}
	took, allowed := f.Now.Sub(*s.BeganAt), seconds(*s.PeriodSeconds)
	if v.Move != nil { // the snapshot is paced to the period
		allowed = longest(allowed)
	}
	if took <= allowed {
		return nil
	}
	found := statusFinding(v, "not restorable: its snapshot began %s ago, the snapshot period is %s", phrase.Duration(took), phrase.Seconds(*s.PeriodSeconds))
	found[0].Since = *s.BeganAt
	return found
}

func oldSnapshot(_ Facts, v inspect.BackupStatusView) []Finding {
	s := v.Snapshot
	if !isActive(v) || s == nil || s.PeriodSeconds == nil || s.LastComplete == nil || s.LastComplete.AgeSeconds == nil {
		return nil
	}
	period, age := seconds(*s.PeriodSeconds), seconds(*s.LastComplete.AgeSeconds)
	if age <= longest(period) {
		return nil
	}
	return statusFinding(v, "its last snapshot is %s old, the snapshot period is %s", phrase.Duration(age), phrase.Duration(period))
}

// longest returns the maximum duration of a snapshot that is paced to a period.
func longest(period time.Duration) time.Duration {
	return period + period*snapshotGrace/100 + inspect.DefaultMaxLag
}

func unexpectedlyPaused(_ Facts, v inspect.BackupStatusView) []Finding {
	if !ptr.Deref(v.Paused, false) || v.Desired == string(v1beta2.BackupStatePaused) || isStopped(v) {
		return nil
	}
	return passFinding(v, "all agents of the database are paused, %s desired", v.Desired)
}

func leftPaused(_ Facts, v inspect.BackupStatusView) []Finding {
	point := v.LatestRestorable
	if !ptr.Deref(v.Paused, false) || v.Desired != string(v1beta2.BackupStatePaused) || point == nil || point.AgeSeconds == nil || seconds(*point.AgeSeconds) < longPause {
		return nil
	}
	return one(backup(v.Name), fmt.Sprintf("it is paused, and its newest restorable point is %s old", phrase.Seconds(*point.AgeSeconds)), "fdb", "backup", "resume", v.Name)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
