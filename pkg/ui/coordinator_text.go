package ui

import (
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteCoordinatorDiagnosis prints a row per coordinator, and the finding.
func WriteCoordinatorDiagnosis(w io.Writer, v lists.CoordinatorDiagnosisView) error {
	t := Table{Columns: []layout.Column{
		{Name: "ADDRESS", Min: 24, Below: true},
		{Name: "ID"},
		{Name: "STATE"},
		{Name: "NOW", Drop: 1, Min: 16},
		{Name: "NOTE", Below: true},
	}}
	for _, d := range v.Items {
		t.Rows = append(t.Rows, []string{d.Address, phrase.Or(d.Group, phrase.UnknownCell), string(d.State), phrase.Or(strings.Join(d.Now, ","), phrase.Nothing), phrase.Or(d.Note, phrase.Nothing)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := layout.Fprintf(w, "\n%s\n", v.Finding)
	return err
}
