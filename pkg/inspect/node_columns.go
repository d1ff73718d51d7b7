package inspect

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
)

// List returns the nodes with their columns.
func (v NodeListView) List() list.Table { return list.Of(NodeColumns, v.Items) }

// Notes returns why timers of nodes do not run, and which process groups ran there.
func (v NodeListView) Notes() []string {
	var notes []string
	for _, n := range v.Items {
		for _, note := range n.Notes() {
			notes = append(notes, n.Name+": "+note)
		}
	}
	return notes
}

// NodeColumns are the columns of nodes.
var NodeColumns = []list.Column[NodeView]{
	{Title: "NODE", Meaning: "Name of the node", Cell: func(_ list.At, n NodeView) list.Cell { return list.Text(n.Name).In(n.Tone().OfID()) }},
	{Title: "ZONE", Meaning: "Fault domains of the process groups on it", Repeats: "NODE", Drop: 3, Cell: func(_ list.At, n NodeView) list.Cell { return list.Words(n.Zones) }},
	{Title: "READY", Meaning: "Whether the node is ready; not-reporting where its kubelet stopped, not-found where it was deleted", Typical: 5, Cell: func(_ list.At, n NodeView) list.Cell { return n.ReadyCell().In(n.Tone()) }},
	{Title: "CORDONED", Meaning: "Whether spec.unschedulable keeps new pods off the node", Typical: 8, Drop: 1, Cell: func(_ list.At, n NodeView) list.Cell { return list.YesNo(n.Unschedulable) }},
	{Title: "TAINTS", Meaning: "Taints, as KEY=VALUE:EFFECT", Typical: 24, Drop: 4, Min: 16, Cell: func(_ list.At, n NodeView) list.Cell { return list.Words(n.Taints) }},
	{Title: "MATCHED-RULE", Meaning: "Rules of the spec that match a taint, and for how long each allows it", Typical: 24, Drop: 8, Min: 16, Cell: func(_ list.At, n NodeView) list.Cell { return n.rulesCell() }},
	{Title: "TAINTED-FOR", Meaning: "Age of the taint that a rule matches", Typical: 11, Drop: 7, Right: true, Cell: func(at list.At, n NodeView) list.Cell { return n.timer(list.Known(at.Age(n.TaintedSince))) }, Number: func(at list.At, n NodeView) *float64 { return at.Seconds(n.TaintedSince) }},
	{Title: "DETECT-IN", Meaning: "Time until the first rule ends", Typical: 9, Drop: 6, Right: true, Cell: func(at list.At, n NodeView) list.Cell { return n.timer(n.DetectCell(at)).In(n.Tone()) }, Number: func(at list.At, n NodeView) *float64 { return at.Seconds(n.DetectAt) }},
	{Title: "REPLACE-IN", Meaning: "Time until passes may replace the process groups on it; - where replacements are off", Typical: 10, Drop: 5, Right: true, Cell: func(at list.At, n NodeView) list.Cell { return n.timer(n.ReplaceCell(at)).In(n.Tone()) }, Number: func(at list.At, n NodeView) *float64 { return at.Seconds(n.ReplaceAt) }},
	{Title: "PGS", Meaning: "Process groups on it", Typical: 3, Right: true, Cell: func(_ list.At, n NodeView) list.Cell { return list.Count(len(n.ProcessGroups)) }},
	{Title: "COORDS", Meaning: "Coordinators on it", Typical: 6, Drop: 2, Right: true, Cell: func(_ list.At, n NodeView) list.Cell { return list.Count(n.Coordinators) }},
	{Title: "CLASSES", Meaning: "Process groups on it by class", Typical: 24, Drop: 9, Min: 14, Cell: func(_ list.At, n NodeView) list.Cell { return n.classesCell() }},
}

// Tone is how bad the state of a node is.
func (v NodeView) Tone() list.Tone {
	switch {
	case v.problem() != "":
		return list.Bad
	case ptr.Deref(v.Unschedulable, false), len(v.Taints) > 0:
		return list.Warn
	case v.Ready == nil:
		return list.Unsure
	default:
		return list.Good
	}
}

// problem is what is wrong with a node; empty for one that is ready or could not be read.
func (v NodeView) problem() NodeProblem {
	switch {
	case !ptr.Deref(v.Exists, true):
		return NodeDeleted
	case !ptr.Deref(v.Ready, true), v.isUnresponsive():
		return NodeNotReady
	default:
		return ""
	}
}

// isUnresponsive reports whether a node no longer reports its condition; false for one that could
// not be read.
func (v NodeView) isUnresponsive() bool { return ptr.Deref(v.Exists, false) && v.Ready == nil }

// ReadyCell is whether a node is ready.
func (v NodeView) ReadyCell() list.Cell {
	switch {
	case v.Exists != nil && !*v.Exists:
		return list.Text("not-found")
	case v.isUnresponsive():
		return list.Text("not-reporting")
	default:
		return list.YesNo(v.Ready)
	}
}

// notChecked is the cell of rules that could not be evaluated.
const notChecked = "not-checked"

func (v NodeView) rulesCell() list.Cell {
	if v.Taints == nil {
		return list.Text(notChecked)
	}
	words := make([]string, len(v.MatchedRules))
	for i, r := range v.MatchedRules {
		words[i] = r.word()
	}
	return list.Joined(words)
}

// timer is the cell of a timer: "?" while taints are unknown, "-" where none runs.
func (v NodeView) timer(c list.Cell) list.Cell {
	switch {
	case v.Taints == nil:
		return list.Known("")
	case len(v.MatchedRules) == 0 || len(v.ProcessGroups) == 0:
		return list.Text("")
	default:
		return c
	}
}

// DetectCell is when the first rule ends, or never.
func (v NodeView) DetectCell(at list.At) list.Cell { return v.countdown(at, v.DetectAt) }

// ReplaceCell is when process groups are replaced, or never; "-" where replacements are off.
func (v NodeView) ReplaceCell(at list.At) list.Cell {
	if v.ReplaceAt == nil && v.DetectAt != nil {
		return list.Text("")
	}
	return v.countdown(at, v.ReplaceAt)
}

func (v NodeView) countdown(at list.At, t *time.Time) list.Cell {
	if v.Never {
		return list.Text(Never)
	}
	return list.Known(at.Until(t))
}

func (v NodeView) classesCell() list.Cell {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(v.Classes)) {
		words = append(words, fmt.Sprintf("%s:%d", class, v.Classes[class]))
	}
	return list.Joined(words)
}

// word returns the rule for a table: the key, and for how long it allows the taint.
func (v TaintRuleView) word() string {
	if v.Never {
		return v.Key + ">never"
	}
	return fmt.Sprintf("%s>%ds", v.Key, v.Seconds)
}
