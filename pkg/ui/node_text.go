package ui

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// notChecked stands for rules that nobody could look at.
const notChecked = "not-checked"

// WriteNodes prints a row per node, and what keeps timers from running.
func WriteNodes(w io.Writer, v NodeListView, o ListOptions) error {
	t := Table{Header: o.header([]string{
		"NODE", "READY", "UNSCHEDULABLE", "TAINTS", "MATCHED-RULE", "TAINTED-FOR", "DETECT-IN", "REPLACE-IN", "PGS", "COORDS", "CLASSES",
	})}
	for _, n := range v.Items {
		t.Rows = append(t.Rows, n.row(o))
	}
	if err := t.Write(w); err != nil || o.NoHeaders {
		return err
	}
	for _, n := range v.Items {
		if n.Note != "" {
			fmt.Fprintf(w, "\n%s: %s", n.Name, n.Note)
		}
	}
	if slices.ContainsFunc(v.Items, func(n NodeView) bool { return n.Note != "" }) {
		fmt.Fprintln(w)
	}
	return nil
}

func (v NodeView) row(o ListOptions) []string {
	row := append([]string{v.Name, v.ReadyWord(), yesNo(v.Unschedulable)}, v.taintCells(o)...)
	return append(row, strconv.Itoa(len(v.ProcessGroups)), strconv.Itoa(v.Coordinators), v.classesCell())
}

// IsSilent reports whether a node has stopped telling how it is. Of one that may not be read
// nobody knows.
func (v NodeView) IsSilent() bool { return is(v.Exists) && v.Ready == nil }

// ReadyWord says in a word whether a node is ready.
func (v NodeView) ReadyWord() string {
	switch {
	case v.Exists != nil && !*v.Exists:
		return "gone"
	case v.IsSilent():
		return "silent"
	default:
		return yesNo(v.Ready)
	}
}

// taintCells are TAINTS, MATCHED-RULE, TAINTED-FOR, DETECT-IN and REPLACE-IN.
func (v NodeView) taintCells(o ListOptions) []string {
	if v.Taints == nil {
		return []string{unknown, notChecked, unknown, unknown, unknown}
	}
	taints, rules := orNothing(strings.Join(v.Taints, ",")), make([]string, len(v.MatchedRules))
	for i, r := range v.MatchedRules {
		rules[i] = r.words()
	}
	if len(rules) == 0 || len(v.ProcessGroups) == 0 {
		return []string{taints, orNothing(strings.Join(rules, ",")), nothing, nothing, nothing}
	}
	replace := nothing
	if v.ReplaceAt != nil || v.TaintedSince == nil {
		replace = o.countdown(v.ReplaceAt)
	}
	return []string{taints, strings.Join(rules, ","), o.time(v.TaintedSince), o.countdown(v.DetectAt), replace}
}

// countdown is how long there is until a moment, or the moment; "due" once it is over.
func (o ListOptions) countdown(t *time.Time) string {
	switch {
	case t == nil:
		return unknown
	case o.Absolute:
		return t.Format(time.RFC3339)
	case !t.After(o.Now):
		return "due"
	default:
		return secondsWords(t.Sub(o.Now).Seconds())
	}
}

func (v NodeView) classesCell() string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(v.Classes)) {
		words = append(words, fmt.Sprintf("%s:%d", class, v.Classes[class]))
	}
	return orNothing(strings.Join(words, ","))
}
