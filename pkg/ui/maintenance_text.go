package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteMaintenance prints the zone under maintenance, and for how long.
func WriteMaintenance(w io.Writer, v targets.MaintenanceView, now time.Time) error {
	if v.Zone == "" && len(v.Notes) == 0 {
		_, err := fmt.Fprintln(w, "no zone is under maintenance")
		return err
	}
	zone, left := phrase.Nothing, phrase.Nothing
	if v.Zone != "" {
		zone, left = v.Zone, phrase.SecondsOr(v.SecondsLeft, phrase.UnknownCell)
	}
	return Table{Columns: []layout.Column{
		{Name: "ZONE", Min: 16},
		{Name: "LEFT"},
		{Name: "WAITS-FOR", Min: 20},
	}, Rows: [][]string{{zone, left, waitsFor(v, now)}}}.Write(w)
}

// waitsFor are the process groups that have to restart before a pass ends the maintenance.
func waitsFor(v targets.MaintenanceView, now time.Time) string {
	if len(v.Notes) == 0 {
		return phrase.Nothing
	}
	words := make([]string, len(v.Notes))
	for i, n := range v.Notes {
		since := phrase.UnknownCell
		if n.Since != nil {
			since = phrase.Duration(now.Sub(*n.Since))
		}
		words[i] = fmt.Sprintf("%s(%s)", n.ProcessGroup, since)
	}
	return strings.Join(words, ",")
}
