package tui

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// backupColumns are those that differ within a cluster.
var backupColumns = list.Without(inspect.BackupColumns, "NAMESPACE", "CLUSTER")

// backupsPage shows what could be restored if the data were lost now, and the progress of
// restores.
func backupsPage(s clusterView) page {
	v := s.backups()
	p := page{empty: "the cluster has no backups: nothing can be restored", columns: titles(backupColumns)}
	switch {
	case v.AsOf == nil:
		p.empty = "backups have not been read yet"
	case v.Unread != "":
		p.empty = "backups are unknown"
		p.summary = styledLine(warn, markUnknown+" backups could not be read: "+v.Unread)
	}
	for _, i := range v.Items() {
		p.rows = append(p.rows, backupRow(i))
	}
	if len(p.rows) > 0 {
		p.summary = backupsSummary(v, p.rows)
	}
	p.notes = backupNotes(v)
	return p
}

// backups returns those of the last frame; none before the first.
func (s clusterView) backups() inspect.ClusterBackupsView {
	if b := s.snapshot().Backups; b != nil {
		return *b
	}
	return inspect.ClusterBackupsView{}
}

func backupsSummary(v inspect.ClusterBackupsView, rows []row) line {
	wrong, worst := 0, good
	for _, r := range rows {
		if r.tone >= warn {
			wrong++
		}
		worst = max(worst, r.tone)
	}
	text := phrase.Count(len(v.Backups), "backup")
	if n := len(v.Restores); n > 0 {
		text += ", " + phrase.Count(n, "restore")
	}
	if wrong > 0 {
		text += fmt.Sprintf("; %d with problems", wrong)
	}
	return styledLine(worst, text)
}

func backupRow(i inspect.BackupItem) row {
	r := row{key: "backup " + i.Name(), tone: i.State().Tone}
	if b := i.Backup; b != nil {
		r.backup, r.more = b.Name, func(s clusterView) []line { return s.aboutBackup(*b) }
	} else {
		r.key, r.restore, r.more = "restore "+i.Name(), i.Name(), func(s clusterView) []line { return s.aboutRestore(*i.Restore) }
	}
	return listed(backupColumns, i, r)
}

// backupNotes returns the problems in whole sentences.
func backupNotes(v inspect.ClusterBackupsView) []line {
	var notes []line
	add := func(what, name, text string) {
		if text != "" {
			notes = append(notes, styledLine(faint, what+" "+name+": "+text))
		}
	}
	for _, b := range v.Backups {
		switch {
		case b.Status == nil:
			add("backup", b.Name, b.Unread)
		case !ptr.Deref(b.Status.Reconciled, false):
			add("backup", b.Name, b.Status.Summary)
		}
	}
	for _, r := range v.Restores {
		switch {
		case r.Status == nil:
			add("restore", r.Name, r.Unread)
		case !ptr.Deref(r.Status.Done, false):
			text := r.Status.Summary
			if r.Status.InProgress() && ptr.Deref(v.AgentsPaused(), false) {
				text = "all agents of the database are paused, so it makes no progress; " + text
			}
			add("restore", r.Name, text)
		}
	}
	return notes
}

// aboutBackup returns the details of a backup.
func (s clusterView) aboutBackup(b inspect.BackupRowView) []line {
	state := b.State()
	lines := []line{heading("Backup " + b.Name), factIn(state.Tone, "state", state.Tone.Mark()+" "+state.Text)}
	if v := b.Status; v == nil {
		lines = append(lines, factIn(warn, "not read", b.Unread))
	} else {
		lines = append(lines, s.backupFacts(b, *v)...)
	}
	return append(lines, commandLines(s.o.fdb("backup", "status", b.Name), s.o.fdb("reconcile", "fdbbackup/"+b.Name, "--dry-run"))...)
}

func (s clusterView) backupFacts(b inspect.BackupRowView, v inspect.BackupStatusView) []line {
	lines := []line{
		fact("summary", v.Summary), fact("desired", v.Desired+", "+v.Mode), fact("tag", v.Tag), fact("destination", phrase.Or(v.URL, phrase.UnknownCell)),
		fact("restorable", v.RestorableWords(s.times())+pointOf(v.LatestRestorable)), fact("paused", phrase.YesNo(v.Paused, phrase.UnknownCell)),
	}
	if snap := v.Snapshot; snap != nil {
		lines = append(lines, fact("last snapshot", momentText(snap.LastComplete)), fact("this snapshot", snapshotText(snap)), fact("ETA", phrase.SecondsOr(b.SnapshotETASeconds, phrase.Nothing)))
	}
	for _, e := range v.LastErrors {
		lines = append(lines, factIn(bad, "error", e))
	}
	lines = append(lines,
		fact("written", phrase.BytesOr(v.RangeBytes, phrase.UnknownCell)+" in snapshots, "+phrase.BytesOr(v.LogBytes, phrase.UnknownCell)+" of log"), fact("rate", list.Rate(b.RateBytesPerSecond).Text),
		fact("agents", fmt.Sprintf("%d of %d ready", v.Agents.Ready, v.Agents.Desired)))
	for _, a := range v.Agents.Pods {
		ready := "ready"
		if !a.Ready {
			ready = "not ready"
		}
		lines = append(lines, fact("", fmt.Sprintf("%s, %s, %s, on %s", a.Pod, a.Phase, ready, phrase.Or(a.Node, phrase.UnknownCell))))
	}
	return lines
}

// aboutRestore returns the details of a restore.
func (s clusterView) aboutRestore(r inspect.RestoreRowView) []line {
	state := r.State()
	lines := []line{heading("Restore " + r.Name), factIn(state.Tone, "state", state.Tone.Mark()+" "+state.Text)}
	if v := r.Status; v == nil {
		lines = append(lines, factIn(warn, "not read", r.Unread))
	} else {
		lines = append(lines, restoreFacts(*v)...)
	}
	return append(lines, commandLines(s.o.fdb("restore", "status", r.Name), s.o.fdb("wait", "fdbrestore/"+r.Name, "--for=done"))...)
}

func restoreFacts(v inspect.RestoreStatusView) []line {
	lines := []line{fact("summary", v.Summary), fact("from", phrase.Or(v.URL, phrase.UnknownCell))}
	if v.Percent != nil {
		lines = append(lines, fact("progress", bar(*v.Percent/100)+", "+phrase.CountOf(*v.BlocksDone, *v.BlocksTotal, "block")), fact("ETA", phrase.SecondsOr(v.ETASeconds, phrase.Nothing)))
	}
	if v.Version != nil {
		lines = append(lines, fact("version", fmt.Sprint(*v.Version)), fact("written", phrase.BytesOr(v.BytesWritten, phrase.UnknownCell)), fact("rate", list.Rate(v.RateBytesPerSecond).Text))
	}
	if v.LastError != "" {
		lines = append(lines, factIn(bad, "last error", v.LastError))
	}
	return lines
}

// snapshotText describes the progress of the current snapshot.
func snapshotText(v *inspect.BackupSnapshotView) string {
	if v.IntervalSeconds != nil && *v.IntervalSeconds == 0 {
		return "the first, made as fast as possible; its progress is unknown"
	}
	return drawn(v.ProgressCell()).Text + " of its time; its progress is unknown"
}

// pointOf returns the version of a moment; empty without one.
func pointOf(m *inspect.BackupMomentView) string {
	if m == nil || m.AgeSeconds == nil {
		return ""
	}
	return fmt.Sprintf(", version %d", m.Version)
}

// momentText describes a moment by its version and age.
func momentText(m *inspect.BackupMomentView) string {
	switch {
	case m == nil:
		return "none is complete"
	case m.AgeSeconds == nil:
		return fmt.Sprintf("version %d", m.Version)
	default:
		return fmt.Sprintf("version %d, %s before the last read", m.Version, phrase.Seconds(*m.AgeSeconds))
	}
}
