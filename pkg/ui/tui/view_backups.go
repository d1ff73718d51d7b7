package tui

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// backupsPage answers: what could be restored if the data were lost now, and how far are
// restores?
func backupsPage(s sight) page {
	v := s.backups()
	p := page{empty: "the cluster has no backup: nothing could be restored", columns: []column{
		{title: " "},
		{title: "KIND"},
		{title: "NAME", least: 8},
		{title: "STATE", least: 7},
		{title: "RESTORABLE", least: 8},
		{title: "PROGRESS", least: 10},
		{title: "RATE", right: true, from: 100},
		{title: "ETA", right: true},
		{title: "AGENTS", right: true},
		{title: "PAUSED", usual: "no"},
		{title: "GOES TO", least: 10, from: 150},
	}}
	switch {
	case v.AsOf == nil:
		p.empty = "nobody has looked at backups yet"
	case v.Unread != "":
		p.empty = "what is not read is not shown"
		p.says = sayLine(warn, markUnknown+" backups could not be read: "+v.Unread)
	}
	for _, b := range v.Backups {
		p.rows = append(p.rows, s.backupRow(b))
	}
	for _, r := range v.Restores {
		p.rows = append(p.rows, restoreRow(r, agentsPaused(v)))
	}
	if len(p.rows) > 0 {
		p.says = backupSays(v, p.rows)
	}
	p.notes = backupNotes(v)
	return p
}

// backups are those of the last look; none before there was one.
func (s sight) backups() ui.ClusterBackupsView {
	if b := s.look().Backups; b != nil {
		return *b
	}
	return ui.ClusterBackupsView{}
}

func backupSays(v ui.ClusterBackupsView, rows []row) line {
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
		text += fmt.Sprintf("; %d to look at", wrong)
	}
	return sayLine(worst, text)
}

func (s sight) backupRow(b ui.BackupRowView) row {
	t, state := backupState(b)
	restorable, progress, agents, paused, place := phrase.UnknownCell, phrase.Nothing, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell
	if v := b.Status; v != nil {
		restorable, progress, paused, place = s.restorable(*v), snapshotBar(v.Snapshot), phrase.YesNo(v.Paused, phrase.UnknownCell), phrase.Or(v.URL, phrase.UnknownCell)
		agents = fmt.Sprintf("%d/%d", v.Agents.Ready, v.Agents.Desired)
	}
	key := "backup " + b.Name
	return row{key: key, tone: t, more: func(s sight) []line { return s.aboutBackup(b) }, cells: []span{
		{t.mark(), t},
		say(plain, "backup"), say(plain, b.Name), say(t, state), say(plain, restorable), say(plain, progress),
		say(plain, bytesRate(b.RateBytesPerSecond)), say(plain, phrase.SecondsOr(b.SnapshotETASeconds, phrase.Nothing)), say(plain, agents), say(plain, paused), say(plain, place),
	}}
}

// backupState is how a backup is in a word, and how bad that is.
func backupState(b ui.BackupRowView) (tone, string) {
	v := b.Status
	switch {
	case v == nil:
		return unsure, phrase.UnknownCell
	case v.UnknownReason != "" && v.Agents.Ready == 0 && v.Agents.Desired > 0 && v.Desired != "Stopped":
		return bad, "no agents"
	case v.Running == nil:
		return unsure, phrase.UnknownCell
	case !*v.Running:
		return wantedTone(v.Reconciled), stoppedWord(*v)
	case !ptr.Deref(v.Own, true):
		return bad, "another's"
	case ptr.Deref(v.Paused, false):
		return wantedTone(v.Reconciled), "paused"
	case v.Move != nil:
		return warn, "moves"
	case !ptr.Deref(v.Restorable, true):
		return warn, "begins"
	default:
		return wantedTone(v.Reconciled), "runs"
	}
}

// wantedTone is how bad it is that something is not as it is wanted.
func wantedTone(asWanted *bool) tone {
	switch {
	case asWanted == nil:
		return unsure
	case *asWanted:
		return good
	default:
		return bad
	}
}

func stoppedWord(v ui.BackupStatusView) string {
	switch {
	case v.Desired == "Stopped":
		return "stopped"
	case ptr.Deref(v.Reconciled, false):
		return "complete"
	default:
		return "not running"
	}
}

// restorable is how old the newest point is, on the screen's clock: it ages while nobody
// looks.
func (s sight) restorable(v ui.BackupStatusView) string {
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

// shortBar is how many characters a full bar has here: there are many columns.
const shortBar = 6

// snapshotBar is how much of the time of the present snapshot is over. One that is made as
// fast as can be has no bar: nothing tells how far it is.
func snapshotBar(v *ui.BackupSnapshotView) string {
	switch {
	case v == nil || v.ExpectedPercent == nil:
		return phrase.Nothing
	case v.IntervalSeconds != nil && *v.IntervalSeconds == 0:
		return "the first"
	default:
		return barOf(*v.ExpectedPercent/100, shortBar)
	}
}

func bytesRate(perSecond *float64) string {
	if perSecond == nil {
		return phrase.Nothing
	}
	return phrase.Bytes(int64(*perSecond)) + "/s"
}

// agentsPaused says whether the agents of the database are paused, all of them by one switch;
// nil where no backup tells.
func agentsPaused(v ui.ClusterBackupsView) *bool {
	for _, b := range v.Backups {
		if b.Status != nil && b.Status.Paused != nil {
			return b.Status.Paused
		}
	}
	return nil
}

// underWay reports whether a restore was started and is not over.
func underWay(v *ui.RestoreStatusView) bool {
	return v != nil && v.State != nil && *v.State != "" && !v.Over
}

// restoreRow is a restore. Paused says whether the agents are, without which it does not go on.
func restoreRow(r ui.RestoreRowView, paused *bool) row {
	t, state := restoreState(r)
	held := say(plain, "no")
	if underWay(r.Status) && ptr.Deref(paused, false) {
		t, held = bad, say(bad, "yes")
	}
	progress, rate, eta, place := phrase.Nothing, phrase.Nothing, phrase.Nothing, phrase.UnknownCell
	if v := r.Status; v != nil {
		if v.Percent != nil {
			progress = barOf(*v.Percent/100, shortBar)
		}
		rate, eta, place = bytesRate(v.RateBytesPerSecond), phrase.SecondsOr(v.ETASeconds, phrase.Nothing), phrase.Or(v.URL, phrase.UnknownCell)
	}
	return row{key: "restore " + r.Name, tone: t, more: func(s sight) []line { return s.aboutRestore(r) }, cells: []span{
		{t.mark(), t},
		say(plain, "restore"), say(plain, r.Name), say(t, state), say(plain, phrase.Nothing), say(plain, progress),
		say(plain, rate), say(plain, eta), say(plain, phrase.Nothing), held, say(plain, place),
	}}
}

func restoreState(r ui.RestoreRowView) (tone, string) {
	v := r.Status
	switch {
	case v == nil || v.State == nil:
		return unsure, phrase.UnknownCell
	case ptr.Deref(v.Done, false):
		return good, *v.State
	case v.Over && *v.State == "":
		return bad, "lost"
	case v.Over:
		return bad, *v.State
	case *v.State == "":
		return plain, "not started"
	case v.LastError != "":
		return bad, *v.State
	default:
		return warn, *v.State
	}
}

// backupNotes are what is wrong, in whole sentences.
func backupNotes(v ui.ClusterBackupsView) []line {
	var notes []line
	add := func(what, name, text string) {
		if text != "" {
			notes = append(notes, sayLine(faint, what+" "+name+": "+text))
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
			if underWay(r.Status) && ptr.Deref(agentsPaused(v), false) {
				text = "all agents of the database are paused, so it does not go on; " + text
			}
			add("restore", r.Name, text)
		}
	}
	return notes
}
