package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteConnectionStringDrift prints a row per place, and below it what the places have
// that differ. Wide rows have their coordinators in full.
func WriteConnectionStringDrift(w io.Writer, v lists.ConnectionStringDriftView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "SOURCE", Min: 16},
		{Name: "GENERATION-ID", Drop: 1, Min: 12},
		{Name: "COORDS", Drop: 2},
		{Name: "MATCH"},
	}, "CONNECTION-STRING")
	for _, s := range v.Items {
		row := []string{s.Source, phrase.Or(s.GenerationID, phrase.UnknownCell), connectionSpotCount(s), phrase.YesNo(s.Matches, phrase.UnknownCell)}
		if o.Wide {
			row = append(row, phrase.Or(inspect.OneLine(s.Text), phrase.UnknownCell))
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Write(w); err != nil || o.NoHeaders {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range v.Items {
		switch {
		case s.Unreadable != "":
			layout.Line(w, "%s could not be read: %s", s.Source, s.Unreadable)
		case s.Matches != nil && !*s.Matches:
			layout.Line(w, "%s has %s", s.Source, inspect.OneLine(s.Text))
		}
	}
	_, err := layout.Fprintf(w, "%s\n", connectionStringDriftVerdict(v))
	return err
}

func connectionSpotCount(s lists.ConnectionSpot) string {
	if s.GenerationID == "" {
		return phrase.UnknownCell
	}
	return strconv.Itoa(len(s.Coordinators))
}

func connectionStringDriftVerdict(v lists.ConnectionStringDriftView) string {
	reference := "the connection string in force"
	if v.Against == inspect.SourceResource {
		reference = "the connection string in the status; the one in force is unknown"
	}
	compared := slices.ContainsFunc(v.Items, func(s lists.ConnectionSpot) bool { return s.Matches != nil })
	switch {
	case !compared:
		return "nothing to compare with: no connection string is known"
	case v.Matches == nil:
		return "not all could be read; the others have " + reference
	case *v.Matches:
		return "all have " + reference
	default:
		return "not all have " + reference
	}
}
