package ui

import (
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteWait prints a row per condition.
func WriteWait(w io.Writer, v waiting.WaitView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "CONDITION", Min: 16},
		{Name: "MET"},
		{Name: "SINCE", Drop: 1},
		{Name: "REASON", Below: true},
	})
	for _, c := range v.Conditions {
		since := phrase.Nothing
		if c.Since != nil {
			since = o.time(c.Since)
		}
		t.Rows = append(t.Rows, []string{c.Condition, phrase.YesNo(c.Met, phrase.UnknownCell), since, phrase.Or(c.Reason, phrase.Nothing)})
	}
	return t.Write(w)
}
