package ui

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// BackupNews reports backups and restores that were added, removed or changed.
func BackupNews(before, now frame.Frame) (lines []string) {
	was, is := frameBackups(before), frameBackups(now)
	if is.Unread != "" && !sameBut(is.Unread, was.Unread) {
		lines = append(lines, "backups could not be read: "+is.Unread)
	}
	for _, b := range is.Backups {
		i := slices.IndexFunc(was.Backups, func(o inspect.BackupRowView) bool { return o.Name == b.Name })
		if i < 0 || !sameBut(backupRowWords(was.Backups[i]), backupRowWords(b)) {
			lines = append(lines, "backup "+b.Name+": "+backupRowWords(b))
		}
	}
	for _, r := range is.Restores {
		i := slices.IndexFunc(was.Restores, func(o inspect.RestoreRowView) bool { return o.Name == r.Name })
		if i < 0 || restoreRowProgress(was.Restores[i]) != restoreRowProgress(r) {
			lines = append(lines, "restore "+r.Name+": "+restoreRowWords(r))
		}
	}
	return append(lines, removedBackups(was, is)...)
}

// frameBackups returns those of the last read; none before the first.
func frameBackups(v frame.Frame) inspect.ClusterBackupsView {
	if v.Backups == nil {
		return inspect.ClusterBackupsView{}
	}
	return *v.Backups
}

func removedBackups(was, is inspect.ClusterBackupsView) (lines []string) {
	if is.AsOf == nil || is.Unread != "" {
		return nil
	}
	for _, b := range was.Backups {
		if !slices.ContainsFunc(is.Backups, func(o inspect.BackupRowView) bool { return o.Name == b.Name }) {
			lines = append(lines, "backup "+b.Name+": deleted")
		}
	}
	for _, r := range was.Restores {
		if !slices.ContainsFunc(is.Restores, func(o inspect.RestoreRowView) bool { return o.Name == r.Name }) {
			lines = append(lines, "restore "+r.Name+": deleted")
		}
	}
	return lines
}

func backupRowWords(v inspect.BackupRowView) string {
	if v.Status == nil {
		return "could not be read: " + v.Unread
	}
	return v.Status.Summary
}

func restoreRowWords(v inspect.RestoreRowView) string {
	if v.Status == nil {
		return "could not be read: " + v.Unread
	}
	return v.Status.Summary
}

// restoreRowProgress identifies the state of a restore, and its progress in tenths: each is reported once.
func restoreRowProgress(v inspect.RestoreRowView) string {
	s := v.Status
	switch {
	case s == nil:
		return v.Unread
	case s.State == nil:
		return s.UnknownReason
	case s.Percent == nil:
		return *s.State + s.LastError
	default:
		return fmt.Sprint(*s.State, s.LastError, int(*s.Percent)/10)
	}
}
