// Package states returns how bad the state of an object is, and its cells in tables.
package states

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
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

// GroupTone returns the severity of a process group.
func GroupTone(g inspect.GroupView) paint.Tone {
	worst := paint.Good
	if g.Processes == nil {
		worst = paint.Unsure
	}
	if g.RemovalSince != nil || (g.Exclusion != inspect.NotExcluded && g.Exclusion != inspect.ExclusionUnknown) {
		worst = paint.Warn
	}
	if g.Processes != nil && *g.Processes == 0 && g.RemovalSince == nil {
		worst = paint.Bad
	}
	for _, c := range g.Conditions {
		worst = max(worst, ConditionTone(c.Type))
	}
	return worst
}

// ConditionTone returns the severity of a condition: it is bad if it leads to a replacement.
func ConditionTone(condition string) paint.Tone {
	c := v1beta2.ProcessGroupConditionType(condition)
	switch {
	case c.IsInformational(), c == v1beta2.ConditionPodPending, c == v1beta2.ConditionProcessIsMarkedAsExcluded:
		return paint.Warn
	case slices.Contains(v1beta2.ReplacementConditions(), c):
		return paint.Bad
	default:
		return paint.Warn
	}
}

// WorstFirst sorts conditions by severity, then by age.
func WorstFirst(conditions []inspect.ConditionView) []inspect.ConditionView {
	return slices.SortedStableFunc(slices.Values(conditions), func(a, b inspect.ConditionView) int {
		return cmp.Or(cmp.Compare(ConditionTone(b.Type), ConditionTone(a.Type)), inspect.CompareTimes(a.Since, b.Since))
	})
}

// ExclusionCell returns the progress of the exclusion of a process group.
func ExclusionCell(g inspect.GroupView) string {
	switch g.Exclusion {
	case inspect.NotExcluded:
		return phrase.Nothing
	case inspect.ExclusionUnknown:
		return phrase.UnknownCell
	default:
		return string(g.Exclusion)
	}
}

// RolesCell returns the roles of a process group; "?" when they are unknown.
func RolesCell(roles []string) string {
	if roles == nil {
		return phrase.UnknownCell
	}
	return phrase.Or(strings.Join(roles, ","), phrase.Nothing)
}

// ToneOfID returns the ordinary color for the IDs of healthy objects: a page full of green shows
// nothing.
func ToneOfID(t paint.Tone) paint.Tone {
	if t < paint.Warn {
		return paint.Plain
	}
	return t
}

// NodeTone returns the severity of a node.
func NodeTone(n inspect.NodeView) paint.Tone {
	switch {
	case !ptr.Deref(n.Exists, true), !ptr.Deref(n.Ready, true), ui.IsUnresponsive(n):
		return paint.Bad
	case ptr.Deref(n.Unschedulable, false), len(n.Taints) > 0:
		return paint.Warn
	case n.Ready == nil:
		return paint.Unsure
	default:
		return paint.Good
	}
}

// TaintsCell returns the taints of a node; "?" when they are unknown.
func TaintsCell(n inspect.NodeView) string {
	if n.Taints == nil {
		return phrase.UnknownCell
	}
	return phrase.Or(strings.Join(n.Taints, ","), phrase.Nothing)
}

// ClassesCell counts the process groups on a node by class.
func ClassesCell(n inspect.NodeView) string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(n.Classes)) {
		words = append(words, fmt.Sprintf("%s:%d", class, n.Classes[class]))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}

// ToneOfCount returns the severity of a number of problems.
func ToneOfCount(n int) paint.Tone {
	if n > 0 {
		return paint.Warn
	}
	return paint.Good
}

// DrainTone returns the severity of the progress of an exclusion.
func DrainTone(d inspect.DrainView) paint.Tone {
	switch {
	case d.State == inspect.ExclusionSafe:
		return paint.Good
	case d.StalledSeconds != nil:
		return paint.Bad
	default:
		return paint.Warn
	}
}

// StallTone returns the severity of an exclusion that makes no progress.
func StallTone(d inspect.DrainView) paint.Tone {
	if d.StalledSeconds != nil {
		return paint.Bad
	}
	return paint.Plain
}

// MovedBar returns the share of the data of the first read that has moved away. An unknown
// share has no bar.
func MovedBar(d inspect.DrainView) string {
	switch {
	case d.State == inspect.ExclusionSafe:
		return Bar(1)
	case d.LeftBytes == nil || d.MovedBytes == nil || *d.LeftBytes+*d.MovedBytes <= 0:
		return phrase.Nothing
	default:
		return Bar(float64(*d.MovedBytes) / float64(*d.LeftBytes+*d.MovedBytes))
	}
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

// RateCell returns how fast data moves away; "-" when it is unknown.
func RateCell(d inspect.DrainView) string {
	if d.RateBytesPerSecond == nil {
		return phrase.Nothing
	}
	return phrase.Bytes(int64(*d.RateBytesPerSecond)) + "/s"
}

// EtaCell returns the likely range of the time until the end; "-" if it is unknown.
func EtaCell(d inspect.DrainView) string {
	if d.ETASeconds == nil {
		return phrase.Nothing
	}
	soonest, latest := phrase.SecondsOr(d.ETASecondsSoonest, phrase.UnknownCell), phrase.SecondsOr(d.ETASecondsLatest, phrase.UnknownCell)
	if soonest == latest {
		return soonest
	}
	return soonest + "-" + latest
}

// ReasonsOf returns why rows are not safe, without duplicates.
func ReasonsOf(items []inspect.DrainView) []string {
	var lines []string
	for _, d := range items {
		name := d.ID
		if name == "" {
			name = d.Process
		}
		text := fmt.Sprintf("%s %s: %s", name, d.State, d.Reason)
		if d.Reason != "" && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// barWidth is the width of a bar.
const barWidth = 10
