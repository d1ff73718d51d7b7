package inspect

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// List returns the lock with its columns. The other lists of the document have their own.
func (v LockListView) List() list.Table { return list.Of(LockColumns, v.Items) }

// LockColumns are the columns of locks.
var LockColumns = []list.Column[LockView]{
	{Title: "CLUSTER", Meaning: "Name of the cluster", Drop: 1, Cell: func(_ list.At, l LockView) list.Cell { return list.Text(l.Cluster) }},
	{Title: "OWNER", Meaning: "processGroupIDPrefix of the control-plane instance that last took the lock; - without one", Min: 12, Cell: func(_ list.At, l LockView) list.Cell { return l.ownerCell() }},
	{Title: "MINE", Meaning: "Whether that is this control-plane instance; ? where those without a prefix have one name", Typical: 4, Drop: 2, Cell: func(_ list.At, l LockView) list.Cell { return l.owned(list.YesNo(l.Mine)) }},
	{Title: "SINCE", Meaning: "Age of the lock", Typical: 6, Drop: 4, Cell: func(at list.At, l LockView) list.Cell { return l.owned(list.Known(at.Age(l.Since))) }, Number: func(at list.At, l LockView) *float64 { return at.Seconds(l.Since) }},
	{Title: "UNTIL", Meaning: "When the lock expires", Typical: 20, Drop: 5, Cell: func(at list.At, l LockView) list.Cell {
		return l.owned(list.Known(list.At{Now: at.Now, Absolute: true}.Age(l.Until)))
	}},
	{Title: "LEFT", Meaning: "Time until then; - once it has expired", Typical: 6, Drop: 3, Cell: func(at list.At, l LockView) list.Cell { return l.owned(l.leftCell(at.Now)) }, Number: func(_ list.At, l LockView) *float64 { return l.SecondsLeft }},
	{Title: "STATE", Meaning: "free, held, unknown, expired, or owner-denied; the last two can be taken over", Typical: 8, Cell: func(_ list.At, l LockView) list.Cell { return list.Text(l.State).In(l.Tone()) }},
}

// owned is a cell of a lock that has an owner; "-" of one without.
func (v LockView) owned(c list.Cell) list.Cell {
	switch {
	case v.State == LockUnknown:
		return list.Known("")
	case v.Owner == nil:
		return list.Text("")
	default:
		return c
	}
}

func (v LockView) ownerCell() list.Cell {
	if v.Owner != nil && *v.Owner == "" {
		return list.Text(`""`)
	}
	return v.owned(list.Text(ptr.Deref(v.Owner, "")))
}

func (v LockView) leftCell(now time.Time) list.Cell {
	switch {
	case v.Until == nil:
		return list.Known("")
	case !v.Until.After(now):
		return list.Text("")
	default:
		return list.Text(phrase.Until(*v.Until, now))
	}
}

// Tone is how bad it is that the lock is held, or that others can take it over.
func (v LockView) Tone() list.Tone {
	switch {
	case v.State == LockUnknown:
		return list.Unsure
	case v.State == LockExpired, v.State == LockOwnerDenied, v.Used && !ptr.Deref(v.Mine, true):
		return list.Warn
	default:
		return list.Good
	}
}

// Tone is how bad it is that the entry exists, or differs from the spec.
func (v DeniedView) Tone() list.Tone {
	if v.Drift != "" {
		return list.Bad
	}
	return list.Warn
}

// DeniedColumns are the columns of the deny list.
var DeniedColumns = []list.Column[DeniedView]{
	{Title: "DENIED-ID", Meaning: "processGroupIDPrefix of a control-plane instance", Cell: func(_ list.At, d DeniedView) list.Cell { return list.Text(d.ID) }},
	{Title: "IN-DB", Meaning: "Whether the database denies it the lock now", Cell: func(_ list.At, d DeniedView) list.Cell { return d.inDatabaseCell().In(d.Tone()) }},
	{Title: "IN-SPEC", Meaning: "Its entry in spec.lockOptions.denyList", Cell: func(_ list.At, d DeniedView) list.Cell { return d.inSpecCell() }},
	{Title: "SET-BY", Meaning: "User or spec that added it; ? where that was not recorded", Drop: 1, Min: 10, Cell: func(_ list.At, d DeniedView) list.Cell { return d.noted(list.Known(ptr.Deref(d.SetBy, ""))) }},
	{Title: "WHEN", Meaning: "Age of the entry in the database", Drop: 2, Cell: func(at list.At, d DeniedView) list.Cell { return d.noted(list.Known(at.Age(d.When))) }},
	{Title: "REASON", Meaning: "Why it was added", Below: true, Cell: func(_ list.At, d DeniedView) list.Cell { return d.noted(list.Text(ptr.Deref(d.Reason, ""))) }},
}

func (v DeniedView) inDatabaseCell() list.Cell {
	if v.Unread {
		return list.Known("")
	}
	return list.YesNo(&v.InDatabase)
}

func (v DeniedView) inSpecCell() list.Cell {
	if v.InSpec == SpecUnset {
		return list.Text("")
	}
	return list.Text(v.InSpec)
}

// noted is a cell of what was recorded with an entry in the database: "-" without an entry, "?"
// where nothing was recorded.
func (v DeniedView) noted(c list.Cell) list.Cell {
	switch {
	case v.Unread:
		return list.Known("")
	case !v.InDatabase:
		return list.Text("")
	case v.SetBy == nil:
		return list.Known("")
	default:
		return c
	}
}

// UpgradeColumns are the columns of announced upgrades.
var UpgradeColumns = []list.Column[UpgradeView]{
	{Title: "UPGRADE-TO", Meaning: "Version that process groups can start in", Cell: func(_ list.At, u UpgradeView) list.Cell { return list.Text(u.Version) }},
	{Title: "GROUPS", Meaning: "These process groups", Min: 20, Cell: func(_ list.At, u UpgradeView) list.Cell { return list.Joined(u.Groups) }},
}

// SharedListColumns are the columns of the lists that control-plane instances share.
var SharedListColumns = []list.Column[ListEntryView]{
	{Title: "LIST", Meaning: "Name of the list", Cell: func(_ list.At, e ListEntryView) list.Cell { return list.Text(e.List) }},
	{Title: "CONTROL-PLANE-INSTANCE", Meaning: "Control-plane instance that added the entry", Min: 10, Cell: func(_ list.At, e ListEntryView) list.Cell { return list.Text(e.ControlPlaneInstance) }},
	{Title: "GROUP", Meaning: "ID of the process group", Cell: func(_ list.At, e ListEntryView) list.Cell { return list.Text(e.Group) }},
	{Title: "SINCE", Meaning: "Age of the entry", Drop: 1, Cell: func(at list.At, e ListEntryView) list.Cell { return list.Text(at.Age(&e.Since)) }, Number: func(at list.At, e ListEntryView) *float64 { return at.Seconds(&e.Since) }},
}
