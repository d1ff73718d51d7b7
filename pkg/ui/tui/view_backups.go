package tui

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/states"
)

// backupsPage shows what could be restored if the data were lost now, and the progress of
// restores.
func backupsPage(s clusterView) page {
	v := s.backups()
	p := page{empty: "the cluster has no backups: nothing can be restored", columns: []layout.Column{
		{Name: " "},
		{Name: "KIND", Drop: 70},
		{Name: "NAME", Min: 8},
		{Name: "STATE", Min: 7},
		{Name: "RESTORABLE", Min: 8},
		{Name: "PROGRESS", Min: 10, Drop: 60},
		{Name: "RATE", Right: true, Drop: 100},
		{Name: "ETA", Right: true, Drop: 90},
		{Name: "AGENTS", Right: true, Drop: 80},
		{Name: "PAUSED", Drop: 50},
		{Name: "DESTINATION", Min: 10, Drop: 150},
	}}
	switch {
	case v.AsOf == nil:
		p.empty = "backups have not been read yet"
	case v.Unread != "":
		p.empty = "backups are unknown"
		p.summary = styledLine(warn, markUnknown+" backups could not be read: "+v.Unread)
	}
	for _, b := range v.Backups {
		p.rows = append(p.rows, s.backupRow(b))
	}
	for _, r := range v.Restores {
		p.rows = append(p.rows, restoreRow(r, states.AgentsPaused(v)))
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

func (s clusterView) backupRow(b inspect.BackupRowView) row {
	t, state := states.BackupState(b)
	restorable, progress, agents, paused, url := phrase.UnknownCell, phrase.Nothing, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell
	if v := b.Status; v != nil {
		restorable, progress, paused, url = s.restorable(*v), states.SnapshotBar(v.Snapshot), phrase.YesNo(v.Paused, phrase.UnknownCell), phrase.Or(v.URL, phrase.UnknownCell)
		agents = fmt.Sprintf("%d/%d", v.Agents.Ready, v.Agents.Desired)
	}
	key := "backup " + b.Name
	return row{key: key, backup: b.Name, tone: t, more: func(s clusterView) []line { return s.aboutBackup(b) }, number: backupNumber(b), cells: []span{
		styled(t, t.Mark()),
		styled(plain, "backup"), styled(plain, b.Name), styled(t, state), styled(plain, restorable), styled(plain, progress),
		styled(plain, bytesRate(b.RateBytesPerSecond)), styled(plain, phrase.SecondsOr(b.SnapshotETASeconds, phrase.Nothing)), styled(plain, agents), styled(plain, paused), styled(plain, url),
	}}
}

func backupNumber(b inspect.BackupRowView) func(s clusterView, column string) *float64 {
	return func(_ clusterView, column string) *float64 {
		switch {
		case column == "RATE":
			return b.RateBytesPerSecond
		case column == "ETA":
			return b.SnapshotETASeconds
		case column == "RESTORABLE" && b.Status != nil && b.Status.LatestRestorable != nil:
			return list.Quantity(&b.Status.LatestRestorable.Version)
		}
		return nil
	}
}

func restoreNumber(v *inspect.RestoreStatusView) func(s clusterView, column string) *float64 {
	return func(_ clusterView, column string) *float64 {
		switch {
		case v == nil:
		case column == "RATE":
			return v.RateBytesPerSecond
		case column == "ETA":
			return v.ETASeconds
		case column == "PROGRESS":
			return v.Percent
		}
		return nil
	}
}

// restorable returns the current age of the newest restorable point, which also grows between
// two reads.
func (s clusterView) restorable(v inspect.BackupStatusView) string {
	point := v.LatestRestorable
	switch {
	case v.Restorable == nil:
		return phrase.UnknownCell
	case point == nil:
		return "no"
	case point.AgeSeconds == nil:
		return fmt.Sprintf("v%d", point.Version)
	}
	age := float64(*point.AgeSeconds)
	if v.AsOf != nil {
		age += s.now.Sub(*v.AsOf).Seconds()
	}
	return phrase.SecondsOr(&age, phrase.UnknownCell) + " ago"
}

// restoreRow returns the row of a restore, which makes no progress while agents are paused.
func restoreRow(r inspect.RestoreRowView, paused *bool) row {
	t, state := states.RestoreState(r)
	held := styled(plain, "no")
	if states.InProgress(r.Status) && ptr.Deref(paused, false) {
		t, held = bad, styled(bad, "yes")
	}
	progress, rate, eta, url := phrase.Nothing, phrase.Nothing, phrase.Nothing, phrase.UnknownCell
	if v := r.Status; v != nil {
		if v.Percent != nil {
			progress = barOf(*v.Percent/100, states.ShortBar)
		}
		rate, eta, url = bytesRate(v.RateBytesPerSecond), phrase.SecondsOr(v.ETASeconds, phrase.Nothing), phrase.Or(v.URL, phrase.UnknownCell)
	}
	return row{key: "restore " + r.Name, restore: r.Name, tone: t, more: func(s clusterView) []line { return s.aboutRestore(r) }, number: restoreNumber(r.Status), cells: []span{
		styled(t, t.Mark()),
		styled(plain, "restore"), styled(plain, r.Name), styled(t, state), styled(plain, phrase.Nothing), styled(plain, progress),
		styled(plain, rate), styled(plain, eta), styled(plain, phrase.Nothing), held, styled(plain, url),
	}}
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
			if states.InProgress(r.Status) && ptr.Deref(states.AgentsPaused(v), false) {
				text = "all agents of the database are paused, so it makes no progress; " + text
			}
			add("restore", r.Name, text)
		}
	}
	return notes
}

// aboutBackup returns the details of a backup.
func (s clusterView) aboutBackup(b inspect.BackupRowView) []line {
	t, state := states.BackupState(b)
	lines := []line{heading("Backup " + b.Name), factIn(t, "state", t.Mark()+" "+state)}
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
		fact("restorable", s.restorable(v)+states.PointOf(v.LatestRestorable)), fact("paused", phrase.YesNo(v.Paused, phrase.UnknownCell)),
	}
	if snap := v.Snapshot; snap != nil {
		lines = append(lines, fact("last snapshot", states.MomentText(snap.LastComplete)), fact("this snapshot", states.SnapshotText(snap)), fact("ETA", phrase.SecondsOr(b.SnapshotETASeconds, phrase.Nothing)))
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

// aboutRestore returns the details of a restore.
func (s clusterView) aboutRestore(r inspect.RestoreRowView) []line {
	t, state := states.RestoreState(r)
	lines := []line{heading("Restore " + r.Name), factIn(t, "state", t.Mark()+" "+state)}
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
		lines = append(lines, fact("version", fmt.Sprint(*v.Version)), fact("written", phrase.BytesOr(v.BytesWritten, phrase.UnknownCell)), fact("rate", bytesRate(v.RateBytesPerSecond)))
	}
	if v.LastError != "" {
		lines = append(lines, factIn(bad, "last error", v.LastError))
	}
	return lines
}
