package tui

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// aboutBackup returns the details of a backup.
func (s clusterView) aboutBackup(b inspect.BackupRowView) []line {
	t, state := backupState(b)
	lines := []line{heading("Backup " + b.Name), factIn(t, "state", t.mark()+" "+state)}
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
		fact("restorable", s.restorable(v)+pointOf(v.LatestRestorable)), fact("paused", phrase.YesNo(v.Paused, phrase.UnknownCell)),
	}
	if snap := v.Snapshot; snap != nil {
		lines = append(lines, fact("last snapshot", momentText(snap.LastComplete)), fact("this snapshot", snapshotText(snap)), fact("ETA", phrase.SecondsOr(b.SnapshotETASeconds, phrase.Nothing)))
	}
	for _, e := range v.LastErrors {
		lines = append(lines, factIn(bad, "error", e))
	}
	lines = append(lines,
		fact("written", phrase.BytesOr(v.RangeBytes, phrase.UnknownCell)+" in snapshots, "+phrase.BytesOr(v.LogBytes, phrase.UnknownCell)+" of log"), fact("rate", bytesRate(b.RateBytesPerSecond)),
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

func snapshotText(v *inspect.BackupSnapshotView) string {
	if v.IntervalSeconds != nil && *v.IntervalSeconds == 0 {
		return "the first, made as fast as possible; its progress is unknown"
	}
	return snapshotBar(v) + " of its time; its progress is unknown"
}

func pointOf(m *inspect.BackupMomentView) string {
	if m == nil || m.AgeSeconds == nil {
		return ""
	}
	return fmt.Sprintf(", version %d", m.Version)
}

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

// aboutRestore returns the details of a restore.
func (s clusterView) aboutRestore(r inspect.RestoreRowView) []line {
	t, state := restoreState(r)
	lines := []line{heading("Restore " + r.Name), factIn(t, "state", t.mark()+" "+state)}
	if v := r.Status; v == nil {
		lines = append(lines, factIn(warn, "not read", r.Unread))
	} else {
		lines = append(lines, restoreFacts(*v)...)
	}
	return append(lines, commandLines(s.o.fdb("restore", "status", r.Name), s.o.fdb("restore", "wait", r.Name))...)
}

func restoreFacts(v inspect.RestoreStatusView) []line {
	lines := []line{fact("summary", v.Summary), fact("from", phrase.Or(v.URL, phrase.UnknownCell))}
	if v.Percent != nil {
		lines = append(lines, fact("progress", bar(*v.Percent/100)+", "+phrase.CountOf(*v.BlocksDone, *v.BlocksTotal, "block")), fact("ETA", phrase.SecondsOr(v.ETASeconds, phrase.Nothing)))
	}
	if v.Version != nil {
		lines = append(lines, fact("version", fmt.Sprint(*v.Version)), fact("written", phrase.BytesOr(v.BytesWritten, phrase.UnknownCell)), fact("rate", bytesRate(v.RateBytesPerSecond)))
	}
	if v.LastError != "" {
		lines = append(lines, factIn(bad, "last error", v.LastError))
	}
	return lines
}
