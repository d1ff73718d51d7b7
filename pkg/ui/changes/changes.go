// Package changes renders what changed between two times; pure.
package changes

import (
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/changes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Kinds are the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{{Name: "DumpDiff", PrintedBy: "dump diff", Document: changes.View{}}}
}

// Write prints a row per change, and a sentence.
func Write(w io.Writer, v changes.View, t ui.Table) error {
	t.Columns = []layout.Column{
		{Name: "SECTION"},
		{Name: "OBJECT", Min: 16},
		{Name: "FIELD", Min: 12},
		{Name: "CHANGE"},
		{Name: "BEFORE", Below: true},
		{Name: "AFTER", Below: true},
	}
	for _, c := range merged(v.Items) {
		t.Rows = append(t.Rows, []string{
			string(c.Section), phrase.Or(c.Object, phrase.Nothing), phrase.Or(c.Field, phrase.Nothing), string(c.Kind), cell(c, c.Before), cell(c, c.After),
		})
	}
	if len(t.Rows) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	for _, warning := range v.Warnings {
		layout.Entry(w, "warning: ", warning)
	}
	_, err := layout.Fprintf(w, "%s\n", sentence(v))
	return err
}

// cell returns a value; one that is unknown, or that does not exist, has a sign of its own.
func cell(c changes.Change, value *string) string {
	switch {
	case value != nil:
		return phrase.Or(*value, `""`)
	case c.Kind == changes.Unknown:
		return phrase.UnknownCell
	default:
		return phrase.Nothing
	}
}

// merged makes one row of all objects of a section that have the same unknown field: while the
// database does not answer that is every one.
func merged(items []changes.Change) []changes.Change {
	type field struct {
		section changes.Section
		name    string
	}
	count := map[field]int{}
	for _, c := range items {
		if c.Kind == changes.Unknown {
			count[field{c.Section, c.Field}]++
		}
	}
	var rows []changes.Change
	for _, c := range items {
		key := field{c.Section, c.Field}
		switch n := count[key]; {
		case c.Kind != changes.Unknown || n == 1:
			rows = append(rows, c)
		case n > 1:
			c.Object, c.Before, c.After = phrase.Count(n, "object"), nil, nil
			rows = append(rows, c)
			count[key] = 0
		}
	}
	return rows
}

// sentence returns how many differences there are, and between what.
func sentence(v changes.View) string {
	text := phrase.Count(v.Differences, "difference") + " from " + moment(v.From) + " to " + moment(v.To)
	if unknown := len(v.Items) - v.Differences; unknown > 0 {
		text += "; " + phrase.Count(unknown, "fact") + " unknown"
	}
	return text
}

func moment(m changes.Moment) string {
	return phrase.Or(m.File, "now") + " (" + m.At.UTC().Format(time.RFC3339) + ")"
}
