package ui

import (
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteCoordinators prints a row per coordinator, and whether a quorum answers.
func WriteCoordinators(w io.Writer, v inspect.CoordinatorListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "ADDRESS", Min: 24, Below: true},
		{Name: "ID"},
		{Name: "ZONE", Drop: 1, Min: 10},
		{Name: "DC", Drop: 3},
		{Name: "REACHABLE"},
		{Name: "ON-REMOVAL-LIST", Drop: 2},
		{Name: "TLS", Drop: 4},
	})
	for _, c := range v.Items {
		t.Rows = append(t.Rows, []string{
			c.Address, phrase.Or(c.Group, phrase.UnknownCell), phrase.Or(c.Zone, phrase.UnknownCell), phrase.Or(c.DC, phrase.Nothing), phrase.YesNo(c.Reachable, phrase.UnknownCell), phrase.YesNo(c.Removing, phrase.UnknownCell), phrase.YesNo(&c.TLS, phrase.UnknownCell),
		})
	}
	if err := t.Write(w); err != nil || o.NoHeaders {
		return err
	}
	_, err := layout.Fprintf(w, "\n%s of %d answer, %d desired; a quorum answers: %s\n", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items), v.Desired, phrase.YesNo(v.QuorumReachable, phrase.UnknownCell))
	return err
}

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
