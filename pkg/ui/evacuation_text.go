package ui

import (
	"cmp"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteEvacuation writes the table.
func WriteEvacuation(w io.Writer, v lists.EvacuationView) error {
	t := Table{Columns: []layout.Column{
		{Name: "NODE", Min: 16},
		{Name: "GROUP"},
		{Name: "CLASS", Drop: 4},
		{Name: "COORD", Drop: 2},
		{Name: "DATA", Drop: 3},
		{Name: "RULE", Drop: 5, Min: 16},
		{Name: "DETECT-AT", Drop: 6},
		{Name: "REPLACE-AT", Drop: 1},
		{Name: "FITS", Below: true},
	}}
	for _, item := range v.Items {
		g := item.Group
		t.Rows = append(t.Rows, []string{
			item.Node, g.ID, g.Class, coordinates(g.Coordinator), phrase.BytesOr(g.StoredBytes, phrase.UnknownCell), cmp.Or(item.Rule, phrase.Nothing), lists.Moment(item.Detected), lists.Moment(item.Replaced), fits(item.Elsewhere),
		})
	}
	return t.Write(w)
}

func fits(f safety.Fit) string {
	switch {
	case f.Fits == nil:
		return phrase.UnknownCell + " (" + f.Reason + ")"
	case *f.Fits:
		return "yes"
	default:
		return "no (" + f.Reason + ")"
	}
}

func coordinates(b *bool) string {
	switch {
	case b == nil:
		return phrase.UnknownCell
	case *b:
		return "yes"
	default:
		return phrase.Nothing
	}
}
