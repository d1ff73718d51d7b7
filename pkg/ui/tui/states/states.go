// Package states returns how bad the state of an object is, and its cells in tables.
package states

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// BackupState returns the state of a backup, and its severity.
func BackupState(b inspect.BackupRowView) (paint.Tone, string) {
	v := b.Status
	switch {
	case v == nil:
		return paint.Unsure, phrase.UnknownCell
	case len(v.InvalidSpec) > 0:
		return paint.Bad, "invalid spec"
	case v.UnknownReason != "" && v.Agents.Ready == 0 && v.Agents.Desired > 0 && v.Desired != "Stopped":
		return paint.Bad, "no agents"
	case v.Running == nil:
		return paint.Unsure, phrase.UnknownCell
	case !*v.Running:
		return DesiredTone(v.Reconciled), StoppedState(*v)
	case !ptr.Deref(v.Own, true):
		return paint.Bad, "tag taken"
	case ptr.Deref(v.Paused, false):
		return DesiredTone(v.Reconciled), "paused"
	case v.Move != nil:
		return paint.Warn, "moving"
	case !ptr.Deref(v.Restorable, true):
		return paint.Warn, "starting"
	default:
		return DesiredTone(v.Reconciled), "running"
	}
}

// DesiredTone returns the severity of a difference from the desired state.
func DesiredTone(asDesired *bool) paint.Tone {
	switch {
	case asDesired == nil:
		return paint.Unsure
	case *asDesired:
		return paint.Good
	default:
		return paint.Bad
	}
}

// StoppedState returns why a backup does not run.
func StoppedState(v inspect.BackupStatusView) string {
	switch {
	case v.Desired == "Stopped":
		return "stopped"
	case ptr.Deref(v.Reconciled, false):
		return "complete"
	default:
		return "not running"
	}
}

// SnapshotBar returns the elapsed share of the current snapshot's time. One that is made as fast
// as possible has no bar: its progress is unknown.
func SnapshotBar(v *inspect.BackupSnapshotView) string {
	switch {
	case v == nil || v.ExpectedPercent == nil:
		return phrase.Nothing
	case v.IntervalSeconds != nil && *v.IntervalSeconds == 0:
		return "first"
	default:
		return BarOf(*v.ExpectedPercent/100, ShortBar)
	}
}

// BytesRate returns a rate of bytes; "-" without one.
func BytesRate(perSecond *float64) string {
	if perSecond == nil {
		return phrase.Nothing
	}
	return phrase.Bytes(int64(*perSecond)) + "/s"
}

// AgentsPaused returns whether the agents of the database are paused, all of them by one switch;
// nil if unknown.
func AgentsPaused(v inspect.ClusterBackupsView) *bool {
	for _, b := range v.Backups {
		if b.Status != nil && b.Status.Paused != nil {
			return b.Status.Paused
		}
	}
	return nil
}

// InProgress reports whether a restore was started and is not finished.
func InProgress(v *inspect.RestoreStatusView) bool {
	return v != nil && v.State != nil && *v.State != "" && !v.Over
}

// RestoreState returns the state of a restore, and its severity.
func RestoreState(r inspect.RestoreRowView) (paint.Tone, string) {
	v := r.Status
	switch {
	case v == nil || v.State == nil:
		return paint.Unsure, phrase.UnknownCell
	case ptr.Deref(v.Done, false):
		return paint.Good, *v.State
	case v.Over && *v.State == "":
		return paint.Bad, "lost"
	case v.Over:
		return paint.Bad, *v.State
	case *v.State == "":
		return paint.Plain, "not started"
	case v.LastError != "":
		return paint.Bad, *v.State
	default:
		return paint.Warn, *v.State
	}
}

// SnapshotText describes the progress of the current snapshot.
func SnapshotText(v *inspect.BackupSnapshotView) string {
	if v.IntervalSeconds != nil && *v.IntervalSeconds == 0 {
		return "the first, made as fast as possible; its progress is unknown"
	}
	return SnapshotBar(v) + " of its time; its progress is unknown"
}

// PointOf returns the version of a moment; empty without one.
func PointOf(m *inspect.BackupMomentView) string {
	if m == nil || m.AgeSeconds == nil {
		return ""
	}
	return fmt.Sprintf(", version %d", m.Version)
}

// MomentText describes a moment by its version and age.
func MomentText(m *inspect.BackupMomentView) string {
	switch {
	case m == nil:
		return "none is complete"
	case m.AgeSeconds == nil:
		return fmt.Sprintf("version %d", m.Version)
	default:
		return fmt.Sprintf("version %d, %s before the last read", m.Version, phrase.Seconds(*m.AgeSeconds))
	}
}

// ShortBar is the width of a bar here: there are many columns.
const ShortBar = 6

// ToneOfCount returns the severity of a number of problems.
func ToneOfCount(n int) paint.Tone {
	if n > 0 {
		return paint.Warn
	}
	return paint.Good
}

// Bar returns a share as a bar and a number. Only the whole fills it.
func Bar(share float64) string { return BarOf(share, barWidth) }

// BarOf returns a bar of a width.
func BarOf(share float64, width int) string {
	return Blocks(share, width) + fmt.Sprintf(" %d%%", int(math.Floor(min(1, max(0, share))*100)))
}

// Blocks returns a bar of a width without the number.
func Blocks(share float64, width int) string {
	full := int(math.Floor(min(1, max(0, share)) * float64(width)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// barWidth is the width of a bar.
const barWidth = 10
