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

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// notChecked is the cell of rules that could not be evaluated.
const notChecked = "not-checked"

// WriteNodes prints a row per node, and why timers do not run.
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
	row := append([]string{v.Name, v.ReadyWord(), phrase.YesNo(v.Unschedulable, phrase.UnknownCell)}, v.taintCells(o)...)
	return append(row, strconv.Itoa(len(v.ProcessGroups)), strconv.Itoa(v.Coordinators), v.classesCell())
}

// IsSilent reports whether a node no longer reports its condition; false for one that could
// not be read.
func (v NodeView) IsSilent() bool { return ptr.Deref(v.Exists, false) && v.Ready == nil }

// ReadyWord returns whether a node is ready, in a word.
func (v NodeView) ReadyWord() string {
	switch {
	case v.Exists != nil && !*v.Exists:
		return "not-found"
	case v.IsSilent():
		return "not-reporting"
	default:
		return phrase.YesNo(v.Ready, phrase.UnknownCell)
	}
}

// taintCells are TAINTS, MATCHED-RULE, TAINTED-FOR, DETECT-IN and REPLACE-IN.
func (v NodeView) taintCells(o ListOptions) []string {
	if v.Taints == nil {
		return []string{phrase.UnknownCell, notChecked, phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell}
	}
	taints, rules := phrase.Or(strings.Join(v.Taints, ","), phrase.Nothing), make([]string, len(v.MatchedRules))
	for i, r := range v.MatchedRules {
		rules[i] = r.words()
	}
	if len(rules) == 0 || len(v.ProcessGroups) == 0 {
		return []string{taints, phrase.Or(strings.Join(rules, ","), phrase.Nothing), phrase.Nothing, phrase.Nothing, phrase.Nothing}
	}
	return []string{taints, strings.Join(rules, ","), o.time(v.TaintedSince), v.DetectWords(o.countdown), v.ReplaceWords(o.countdown)}
}

// Never is the word for a timer that does not end.
const Never = "never"

// countdown returns a moment by the given words, or that it never comes.
func (v NodeView) countdown(at *time.Time, words func(*time.Time) string) string {
	if v.Never {
		return Never
	}
	return words(at)
}

// DetectWords returns when the first rule ends: words for the moment, or never.
func (v NodeView) DetectWords(words func(*time.Time) string) string {
	return v.countdown(v.DetectAt, words)
}

// ReplaceWords returns when process groups are replaced: words for the moment, never, or
// nothing where replacements are off.
func (v NodeView) ReplaceWords(words func(*time.Time) string) string {
	if v.ReplaceAt == nil && v.DetectAt != nil {
		return phrase.Nothing
	}
	return v.countdown(v.ReplaceAt, words)
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

func (v NodeView) classesCell() string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(v.Classes)) {
		words = append(words, fmt.Sprintf("%s:%d", class, v.Classes[class]))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}
