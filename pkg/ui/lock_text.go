package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteLocks prints the lock, the deny list where there is one, and the Lease; wide also the
// lists that control-plane instances share.
func WriteLocks(w io.Writer, v inspect.LockListView, o ListOptions) error {
	tables := []Table{o.declared(v.List())}
	if len(v.Denied) > 0 {
		tables = append(tables, o.declared(list.Of(inspect.DeniedColumns, v.Denied)))
	}
	if o.Wide {
		tables = append(tables, o.declared(list.Of(inspect.UpgradeColumns, v.Upgrades)), o.declared(list.Of(inspect.SharedListColumns, v.Lists)))
	}
	for i, t := range tables {
		if i > 0 && len(t.Rows) > 0 {
			fmt.Fprintln(w)
		}
		if len(t.Rows) == 0 {
			continue
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	if o.NoHeaders {
		return nil
	}
	fmt.Fprintln(w)
	for _, note := range LockNotes(v, o) {
		layout.Line(w, "%s", note)
	}
	return nil
}

// LockNotes explain the lists, and describe the Lease.
func LockNotes(v inspect.LockListView, o ListOptions) []string {
	var notes []string
	for _, l := range v.Items {
		if !l.Used {
			notes = append(notes, l.Cluster+": the spec does not use the lock; passes take none")
		}
		if l.ManualHolder != nil && l.State == inspect.LockHeld {
			notes = append(notes, fmt.Sprintf("%s: the lock is held manually by %s; passes of the same control-plane instance cannot take it either", l.Cluster, *l.ManualHolder))
		}
	}
	for _, d := range v.Denied {
		if d.Drift != "" {
			notes = append(notes, d.ID+": "+d.Drift)
		}
	}
	lease, words := "unknown: it could not be read", StatusOptions{Absolute: o.Absolute, Now: o.Now}
	if v.Lease.Read {
		lease = words.held(v.Lease.Holder, v.Lease.Until)
	}
	notes = append(notes, "Lease of runs in this Kubernetes cluster: "+lease)
	if v.Lease.Operation != nil {
		notes = append(notes, "Operation: "+words.operation(*v.Lease.Operation))
	}
	return notes
}

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
