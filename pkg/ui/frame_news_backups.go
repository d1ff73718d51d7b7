package ui

import (
	"fmt"
	"slices"
)

// backupNews reports backups and restores that were added, removed or changed.
func backupNews(before, now Frame) (lines []string) {
	was, is := before.backups(), now.backups()
	if is.Unread != "" && !sameBut(is.Unread, was.Unread) {
		lines = append(lines, "backups could not be read: "+is.Unread)
	}
	for _, b := range is.Backups {
		i := slices.IndexFunc(was.Backups, func(o BackupRowView) bool { return o.Name == b.Name })
		if i < 0 || !sameBut(was.Backups[i].words(), b.words()) {
			lines = append(lines, "backup "+b.Name+": "+b.words())
		}
	}
	for _, r := range is.Restores {
		i := slices.IndexFunc(was.Restores, func(o RestoreRowView) bool { return o.Name == r.Name })
		if i < 0 || was.Restores[i].progress() != r.progress() {
			lines = append(lines, "restore "+r.Name+": "+r.words())
		}
	}
	return append(lines, removedBackups(was, is)...)
}

// backups returns those of the last read; none before the first.
func (v Frame) backups() ClusterBackupsView {
	if v.Backups == nil {
		return ClusterBackupsView{}
	}
	return *v.Backups
}

func removedBackups(was, is ClusterBackupsView) (lines []string) {
	if is.AsOf == nil || is.Unread != "" {
		return nil
	}
	for _, b := range was.Backups {
		if !slices.ContainsFunc(is.Backups, func(o BackupRowView) bool { return o.Name == b.Name }) {
			lines = append(lines, "backup "+b.Name+": deleted")
		}
	}
	for _, r := range was.Restores {
		if !slices.ContainsFunc(is.Restores, func(o RestoreRowView) bool { return o.Name == r.Name }) {
			lines = append(lines, "restore "+r.Name+": deleted")
		}
	}
	return lines
}

func (v BackupRowView) words() string {
	if v.Status == nil {
		return "could not be read: " + v.Unread
	}
	return v.Status.Summary
}

func (v RestoreRowView) words() string {
	if v.Status == nil {
		return "could not be read: " + v.Unread
	}
	return v.Status.Summary
}

// progress identifies the state of a restore, and its progress in tenths: each is reported once.
func (v RestoreRowView) progress() string {
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
