package inspect

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// BackupItem is a backup or a restore in a list.
type BackupItem struct {
	// Backup is nil for a restore, Restore for a backup.
	Backup  *BackupRowView
	Restore *RestoreRowView
	// Paused is whether the agents of the database are paused, all of them by one switch; nil if unknown.
	Paused *bool
}

// BackupColumns are the columns of backups and restores.
var BackupColumns = []list.Column[BackupItem]{
	{Title: "NAMESPACE", Meaning: "Namespace of the resource", Drop: 5, Cell: func(_ list.At, i BackupItem) list.Cell {
		return i.of(func(b BackupStatusView) string { return b.Metadata.Namespace }, func(r RestoreStatusView) string { return r.Metadata.Namespace })
	}},
	{Title: "KIND", Meaning: "Whether it is a backup or a restore", Drop: 7, Cell: func(_ list.At, i BackupItem) list.Cell { return list.Text(i.kind()) }},
	{Title: "NAME", Meaning: "Name of the resource", Cell: func(_ list.At, i BackupItem) list.Cell { return list.Text(i.Name()) }},
	{Title: "CLUSTER", Meaning: "Cluster that is backed up, or restored", Drop: 3, Cell: func(_ list.At, i BackupItem) list.Cell {
		return i.of(func(b BackupStatusView) string { return b.Cluster }, func(r RestoreStatusView) string { return r.Cluster })
	}},
	{Title: "DESIRED", Meaning: "Desired state of a backup; - for a restore", Typical: 8, Drop: 11, Cell: func(_ list.At, i BackupItem) list.Cell {
		return i.ofBackup(func(b BackupStatusView) string { return b.Desired })
	}},
	{Title: "STATE", Meaning: "State, judged by what the database and the agents report", Min: 9, Cell: func(_ list.At, i BackupItem) list.Cell { return i.State() }},
	{Title: "RESTORABLE", Meaning: "Age of the newest point that a backup restores; no where it restores none", Min: 8, Cell: func(at list.At, i BackupItem) list.Cell { return i.restorableCell(at) }, Number: func(_ list.At, i BackupItem) *float64 { return i.restorableVersion() }},
	{Title: "VERSION", Meaning: "Version of the newest point that a backup restores", Typical: 14, Drop: 14, Place: list.Wide, Right: true, Cell: func(_ list.At, i BackupItem) list.Cell { return i.versionCell() }, Number: func(_ list.At, i BackupItem) *float64 { return i.restorableVersion() }},
	{Title: "PROGRESS", Meaning: "Share of the time of the current snapshot that has passed, or of the blocks that are restored; first for a snapshot whose progress is unknown", Typical: 11, Drop: 6, Cell: func(_ list.At, i BackupItem) list.Cell { return i.progressCell() }, Number: func(_ list.At, i BackupItem) *float64 { return i.progressCell().Share }},
	{Title: "RATE", Meaning: "Bytes written per second", Typical: 9, Drop: 10, Right: true, Place: list.Dashboard, Cell: func(_ list.At, i BackupItem) list.Cell { return list.Rate(i.rate()) }, Number: func(_ list.At, i BackupItem) *float64 { return i.rate() }},
	{Title: "ETA", Meaning: "Time until the snapshot, or the restore, is complete", Typical: 6, Drop: 9, Right: true, Place: list.Dashboard, Cell: func(_ list.At, i BackupItem) list.Cell { return list.Text(phrase.SecondsOr(i.eta(), "")) }, Number: func(_ list.At, i BackupItem) *float64 { return i.eta() }},
	{Title: "AGENTS", Meaning: "Agents that are ready, of those desired; - for a restore, which all agents of the database work on", Typical: 6, Drop: 8, Right: true, Cell: func(_ list.At, i BackupItem) list.Cell {
		return i.ofBackup(func(b BackupStatusView) string { return fmt.Sprintf("%d/%d", b.Agents.Ready, b.Agents.Desired) })
	}},
	{Title: "PAUSED", Meaning: "Whether the agents of the database are paused, so that a restore makes no progress", Typical: 6, Drop: 2, Cell: func(_ list.At, i BackupItem) list.Cell { return i.pausedCell() }},
	{Title: "TAG", Meaning: "Tag of the backup in the database", Drop: 13, Place: list.Wide, Cell: func(_ list.At, i BackupItem) list.Cell {
		return i.ofBackup(func(b BackupStatusView) string { return b.Tag })
	}},
	{Title: "DESTINATION", Meaning: "Where the backup is, without secrets", Drop: 15, Min: 10, Place: list.Wide, Cell: func(_ list.At, i BackupItem) list.Cell {
		return i.of(func(b BackupStatusView) string { return b.URL }, func(r RestoreStatusView) string { return r.URL })
	}},
}

func (i BackupItem) kind() string {
	if i.Restore != nil {
		return "restore"
	}
	return "backup"
}

// Name returns the name of the resource.
func (i BackupItem) Name() string {
	if i.Restore != nil {
		return i.Restore.Name
	}
	return i.Backup.Name
}

// of is the cell of a field of what was read; "?" of what could not be read.
func (i BackupItem) of(backup func(BackupStatusView) string, restore func(RestoreStatusView) string) list.Cell {
	switch {
	case i.Backup != nil && i.Backup.Status != nil:
		return list.Known(backup(*i.Backup.Status))
	case i.Restore != nil && i.Restore.Status != nil:
		return list.Known(restore(*i.Restore.Status))
	default:
		return list.Known("")
	}
}

// ofBackup is the cell of a field that only backups have.
func (i BackupItem) ofBackup(backup func(BackupStatusView) string) list.Cell {
	if i.Restore != nil {
		return list.Text("")
	}
	return i.of(backup, nil)
}

// State is the cell of the state, in the tone of how bad it is.
func (i BackupItem) State() list.Cell {
	if i.Restore == nil {
		return i.Backup.State()
	}
	state := i.Restore.State()
	if i.isHeld() {
		state.Tone = list.Bad
	}
	return state
}

// isHeld reports whether a restore makes no progress because the agents are paused.
func (i BackupItem) isHeld() bool {
	return i.Restore != nil && i.Restore.Status.InProgress() && ptr.Deref(i.Paused, false)
}

func (i BackupItem) pausedCell() list.Cell {
	switch {
	case i.isHeld():
		return list.Text("yes").In(list.Bad)
	case i.Restore != nil:
		return list.Text("no")
	case i.Backup.Status == nil:
		return list.Known("")
	default:
		return list.YesNo(i.Backup.Status.Paused)
	}
}

func (i BackupItem) rate() *float64 {
	switch {
	case i.Backup != nil:
		return i.Backup.RateBytesPerSecond
	case i.Restore.Status != nil:
		return i.Restore.Status.RateBytesPerSecond
	default:
		return nil
	}
}

func (i BackupItem) eta() *float64 {
	switch {
	case i.Backup != nil:
		return i.Backup.SnapshotETASeconds
	case i.Restore.Status != nil:
		return i.Restore.Status.ETASeconds
	default:
		return nil
	}
}

func (i BackupItem) progressCell() list.Cell {
	switch {
	case i.Backup != nil && i.Backup.Status != nil:
		return i.Backup.Status.Snapshot.ProgressCell()
	case i.Restore != nil && i.Restore.Status != nil && i.Restore.Status.Percent != nil:
		return list.Part(*i.Restore.Status.Percent / 100)
	default:
		return list.Text("")
	}
}

// restorableVersion returns the newest version that a backup restores; nil for none.
func (i BackupItem) restorableVersion() *float64 {
	if i.Backup == nil || i.Backup.Status == nil || i.Backup.Status.LatestRestorable == nil {
		return nil
	}
	return list.Quantity(&i.Backup.Status.LatestRestorable.Version)
}

func (i BackupItem) versionCell() list.Cell {
	if b := i.Backup; b != nil && b.Status != nil && b.Status.Restorable != nil && b.Status.LatestRestorable == nil {
		return list.Text("")
	}
	return i.ofBackup(func(b BackupStatusView) string {
		if b.Restorable == nil {
			return ""
		}
		return fmt.Sprint(b.LatestRestorable.Version)
	})
}

func (i BackupItem) restorableCell(at list.At) list.Cell {
	return i.ofBackup(func(b BackupStatusView) string {
		if b.Restorable == nil {
			return ""
		}
		return b.RestorableWords(at)
	})
}

// RestorableWords returns the current age of the newest restorable point, which also grows between
// two reads.
func (v BackupStatusView) RestorableWords(at list.At) string {
	point := v.LatestRestorable
	switch {
	case v.Restorable == nil:
		return phrase.UnknownCell
	case point == nil:
		return "no"
	case point.AgeSeconds == nil:
		return fmt.Sprintf("v%d", point.Version)
	}
	read := at.Now
	if v.AsOf != nil {
		read = *v.AsOf
	}
	restorable := read.Add(-time.Duration(*point.AgeSeconds) * time.Second)
	if at.Absolute {
		return at.Age(&restorable)
	}
	return at.Age(&restorable) + " ago"
}

// ProgressCell is the elapsed share of the current snapshot's time. One that is made as fast as
// possible has none: its progress is unknown.
func (v *BackupSnapshotView) ProgressCell() list.Cell {
	switch {
	case v == nil || v.ExpectedPercent == nil:
		return list.Text("")
	case v.IntervalSeconds != nil && *v.IntervalSeconds == 0:
		return list.Text("first")
	default:
		return list.Part(*v.ExpectedPercent / 100)
	}
}

// State is the cell of a backup's state, in the tone of how bad it is.
func (b BackupRowView) State() list.Cell {
	v := b.Status
	switch {
	case v == nil:
		return list.Known("").In(list.Unsure)
	case len(v.InvalidSpec) > 0:
		return list.Text("invalid-spec").In(list.Bad)
	case v.UnknownReason != "" && v.Agents.Ready == 0 && v.Agents.Desired > 0 && v.Desired != "Stopped":
		return list.Text("no-agents").In(list.Bad)
	case v.Running == nil:
		return list.Known("").In(list.Unsure)
	case !*v.Running:
		return list.Text(v.stoppedWord()).In(desiredTone(v.Reconciled))
	case !ptr.Deref(v.Own, true):
		return list.Text("tag-taken").In(list.Bad)
	case ptr.Deref(v.Paused, false):
		return list.Text("paused").In(desiredTone(v.Reconciled))
	case v.Move != nil:
		return list.Text("moving").In(list.Warn)
	case !ptr.Deref(v.Restorable, true):
		return list.Text("starting").In(list.Warn)
	default:
		return list.Text("running").In(desiredTone(v.Reconciled))
	}
}

// desiredTone is how bad a difference from the desired state is.
func desiredTone(asDesired *bool) list.Tone {
	switch {
	case asDesired == nil:
		return list.Unsure
	case *asDesired:
		return list.Good
	default:
		return list.Bad
	}
}

// stoppedWord returns why a backup does not run.
func (v BackupStatusView) stoppedWord() string {
	switch {
	case v.Desired == "Stopped":
		return "stopped"
	case ptr.Deref(v.Reconciled, false):
		return "complete"
	default:
		return "not-running"
	}
}

// InProgress reports whether a restore was started and is not finished.
func (v *RestoreStatusView) InProgress() bool {
	return v != nil && v.State != nil && *v.State != "" && !v.Over
}

// State is the cell of a restore's state, in the tone of how bad it is.
func (r RestoreRowView) State() list.Cell {
	v := r.Status
	switch {
	case v == nil || v.State == nil:
		return list.Known("").In(list.Unsure)
	case ptr.Deref(v.Done, false):
		return list.Text(*v.State).In(list.Good)
	case v.Over && *v.State == "":
		return list.Text("lost").In(list.Bad)
	case v.Over:
		return list.Text(*v.State).In(list.Bad)
	case *v.State == "":
		return list.Text("not-started")
	case v.LastError != "":
		return list.Text(*v.State).In(list.Bad)
	default:
		return list.Text(*v.State).In(list.Warn)
	}
}

// Items returns backups, and then restores, in a list.
func (v ClusterBackupsView) Items() []BackupItem {
	items, paused := []BackupItem{}, v.AgentsPaused()
	for i := range v.Backups {
		items = append(items, BackupItem{Backup: &v.Backups[i], Paused: paused})
	}
	for i := range v.Restores {
		items = append(items, BackupItem{Restore: &v.Restores[i], Paused: paused})
	}
	return items
}

// AgentsPaused returns whether the agents of the database are paused, all of them by one switch;
// nil if unknown.
func (v ClusterBackupsView) AgentsPaused() *bool {
	for _, b := range v.Backups {
		if b.Status != nil && b.Status.Paused != nil {
			return b.Status.Paused
		}
	}
	return nil
}
