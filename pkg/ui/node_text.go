package ui

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// notChecked is the cell of rules that could not be evaluated.
const notChecked = "not-checked"

// WriteNodes prints a row per node, why timers do not run, and which process groups ran there.
func WriteNodes(w io.Writer, v inspect.NodeListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "NODE", Min: 16},
		{Name: "READY"},
		{Name: "UNSCHEDULABLE", Drop: 3},
		{Name: "TAINTS", Drop: 1, Min: 16},
		{Name: "MATCHED-RULE", Drop: 4, Min: 16},
		{Name: "TAINTED-FOR", Drop: 5},
		{Name: "DETECT-IN", Drop: 6},
		{Name: "REPLACE-IN", Drop: 2},
		{Name: "PGS"},
		{Name: "COORDS", Drop: 1},
		{Name: "CLASSES", Drop: 7, Min: 14},
	})
	for _, n := range v.Items {
		t.Rows = append(t.Rows, nodeRow(n, o))
	}
	if err := t.Write(w); err != nil || o.NoHeaders {
		return err
	}
	first := true
	for _, n := range v.Items {
		for _, note := range n.Notes() {
			if first {
				fmt.Fprintln(w)
			}
			layout.Line(w, "%s: %s", n.Name, note)
			first = false
		}
	}
	return nil
}

func nodeRow(v inspect.NodeView, o ListOptions) []string {
	row := append([]string{v.Name, ReadyWord(v), phrase.YesNo(v.Unschedulable, phrase.UnknownCell)}, TaintCells(v, o)...)
	return append(row, strconv.Itoa(len(v.ProcessGroups)), strconv.Itoa(v.Coordinators), classesCell(v))
}

// IsUnresponsive reports whether a node no longer reports its condition; false for one that could
// not be read.
func IsUnresponsive(v inspect.NodeView) bool { return ptr.Deref(v.Exists, false) && v.Ready == nil }

// ReadyWord returns whether a node is ready, in a word.
func ReadyWord(v inspect.NodeView) string {
	switch {
	case v.Exists != nil && !*v.Exists:
		return "not-found"
	case IsUnresponsive(v):
		return "not-reporting"
	default:
		return phrase.YesNo(v.Ready, phrase.UnknownCell)
	}
}

// TaintCells are TAINTS, MATCHED-RULE, TAINTED-FOR, DETECT-IN and REPLACE-IN.
func TaintCells(v inspect.NodeView, o ListOptions) []string {
	if v.Taints == nil {
		return []string{phrase.UnknownCell, notChecked, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell}
	}
	taints, rules := phrase.Or(strings.Join(v.Taints, ","), phrase.Nothing), make([]string, len(v.MatchedRules))
	for i, r := range v.MatchedRules {
		rules[i] = taintRuleWords(r)
	}
	if len(rules) == 0 || len(v.ProcessGroups) == 0 {
		return []string{taints, phrase.Or(strings.Join(rules, ","), phrase.Nothing), phrase.Nothing, phrase.Nothing, phrase.Nothing}
	}
	return []string{taints, strings.Join(rules, ","), o.time(v.TaintedSince), DetectWords(v, o.countdown), ReplaceWords(v, o.countdown)}
}

// countdown returns a moment by the given words, or that it never comes.
func countdown(v inspect.NodeView, at *time.Time, words func(*time.Time) string) string {
	if v.Never {
		return inspect.Never
	}
	return words(at)
}

// DetectWords returns when the first rule ends: words for the moment, or never.
func DetectWords(v inspect.NodeView, words func(*time.Time) string) string {
	return countdown(v, v.DetectAt, words)
}

// ReplaceWords returns when process groups are replaced: words for the moment, never, or
// nothing where replacements are off.
func ReplaceWords(v inspect.NodeView, words func(*time.Time) string) string {
	if v.ReplaceAt == nil && v.DetectAt != nil {
		return phrase.Nothing
	}
	return countdown(v, v.ReplaceAt, words)
}

// countdown returns the time until a moment, or the moment; "due" once it has passed.
func (o ListOptions) countdown(t *time.Time) string {
	switch {
	case t == nil:
		return phrase.UnknownCell
	case o.Absolute:
		return t.Format(time.RFC3339)
	case !t.After(o.Now):
		return "due"
	default:
		return phrase.Until(*t, o.Now)
	}
}

func classesCell(v inspect.NodeView) string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(v.Classes)) {
		words = append(words, fmt.Sprintf("%s:%d", class, v.Classes[class]))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}

// taintRuleWords returns the rule for a table: the key, and for how long it allows the taint.
func taintRuleWords(v inspect.TaintRuleView) string {
	if v.Never {
		return v.Key + ">never"
	}
	return fmt.Sprintf("%s>%ds", v.Key, v.Seconds)
}
