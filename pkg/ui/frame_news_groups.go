package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// groupNews reports groups that were added and removed, and their conditions and marks.
func (t *ChangeWriter) groupNews(before, now frame.Frame) (lines []string) {
	isFirst := before.Kind == ""
	for _, g := range now.Groups.Items {
		was := frameGroup(before, g.ID)
		if was == nil {
			was = &inspect.GroupView{}
			if !isFirst {
				lines = append(lines, fmt.Sprintf("%s: new process group, class %s", g.ID, g.Class))
			}
		}
		lines = append(lines, t.conditionNews(g, frameAt(now))...)
		if g.RemovalSince != nil && was.RemovalSince == nil {
			lines = append(lines, g.ID+": marked for removal")
		}
		if g.RemovalSince == nil && was.RemovalSince != nil {
			lines = append(lines, g.ID+": no longer marked for removal")
		}
	}
	for _, g := range before.Groups.Items {
		if frameGroup(now, g.ID) == nil && frameKnown(now) {
			delete(t.conditions, g.ID)
			lines = append(lines, g.ID+": removed")
		}
	}
	return lines
}

// conditionNews compares the conditions of a process group with the last known ones: what the database does not report any
// more has not ended.
func (t *ChangeWriter) conditionNews(is inspect.GroupView, now time.Time) (lines []string) {
	was := inspect.GroupView{Conditions: t.conditions[is.ID]}
	for _, c := range is.Conditions {
		if was.Has(c.Type) {
			continue
		}
		line := is.ID + ": " + c.Type
		if c.Since != nil && now.Sub(*c.Since) >= time.Minute {
			line += " for " + phrase.Duration(now.Sub(*c.Since))
		}
		lines = append(lines, line)
	}
	known := is.Conditions
	for _, c := range was.Conditions {
		switch {
		case is.Has(c.Type):
		case is.ConditionsUnknown:
			known = append(slices.Clip(known), c)
		default:
			lines = append(lines, is.ID+": no longer "+c.Type)
		}
	}
	t.conditions[is.ID] = known
	return lines
}

func nodeNews(before, now frame.Frame) (lines []string) {
	for _, n := range now.Nodes.Items {
		was := inspect.NodeView{Ready: new(true), Unschedulable: new(false)}
		if i := slices.IndexFunc(before.Nodes.Items, func(o inspect.NodeView) bool { return o.Name == n.Name }); i >= 0 {
			was = before.Nodes.Items[i]
		}
		if turned(was.Ready, n.Ready) {
			lines = append(lines, fmt.Sprintf("node %s: %s", n.Name, word(*n.Ready, "ready", "not ready")))
		}
		seen := was.Name != ""
		if seen && was.Ready != nil && n.Ready == nil && n.Exists != nil && *n.Exists {
			lines = append(lines, fmt.Sprintf("node %s: no longer reports whether it is ready", n.Name))
		}
		if turned(was.Unschedulable, n.Unschedulable) {
			lines = append(lines, fmt.Sprintf("node %s: %s", n.Name, word(*n.Unschedulable, "unschedulable", "schedulable")))
		}
		lines = append(lines, taintNews(was, n)...)
	}
	return lines
}

func taintNews(was, is inspect.NodeView) (lines []string) {
	for _, taint := range is.Taints {
		if !slices.Contains(was.Taints, taint) {
			lines = append(lines, fmt.Sprintf("node %s: tainted %s", is.Name, taint))
		}
	}
	for _, taint := range was.Taints {
		if is.Taints != nil && !slices.Contains(is.Taints, taint) {
			lines = append(lines, fmt.Sprintf("node %s: no longer tainted %s", is.Name, taint))
		}
	}
	return lines
}

// turned reports whether a value changed. An unknown one has not.
func turned(was, is *bool) bool { return is != nil && (was == nil || *was != *is) }

func word(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
