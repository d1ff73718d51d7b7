// Package orphans renders objects and exclusions without an owner; pure.
package orphans

import (
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/orphans"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Kinds are the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{{Name: "OrphanList", PrintedBy: "gc", Document: orphans.View{}}}
}

// Write prints a row per object or exclusion, and a sentence.
func Write(w io.Writer, v orphans.View, t ui.Table) error {
	t.Columns = []layout.Column{
		{Name: "KIND"},
		{Name: "NAME", Min: 16},
		{Name: "VERDICT"},
		{Name: "SINCE", Drop: 1},
		{Name: "PROOF", Below: true},
		{Name: "REASON", Below: true},
	}
	for _, i := range v.Items {
		since := phrase.UnknownCell
		if i.Since != nil {
			since = i.Since.Format("2006-01-02T15:04:05Z")
		}
		t.Rows = append(t.Rows, []string{string(i.Kind), i.Name, state(i), since, strings.Join(i.Proof, "; "), i.Reason})
	}
	if len(t.Rows) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	for _, warning := range v.Warnings {
		layout.Entry(w, "warning: ", warning)
	}
	_, err := layout.Fprintf(w, "%s\n", v.Summary())
	return err
}

// state is the outcome of a removal, or else the verdict.
func state(i orphans.Item) string { return phrase.Or(string(i.Outcome), string(i.Verdict)) }
