package ui

import (
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteWait prints a row per condition.
func WriteWait(w io.Writer, v waiting.WaitView, o ListOptions) error {
	t := Table{Header: o.header([]string{"CONDITION", "MET", "SINCE", "REASON"})}
	for _, c := range v.Conditions {
		since := phrase.Nothing
		if c.Since != nil {
			since = o.time(c.Since)
		}
		t.Rows = append(t.Rows, []string{c.Condition, phrase.YesNo(c.Met, phrase.UnknownCell), since, phrase.Or(c.Reason, phrase.Nothing)})
	}
	return t.Write(w)
}
