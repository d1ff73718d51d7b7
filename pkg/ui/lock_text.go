package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteLocks prints the lock, the deny list where there is one, and the Lease; wide also the
// lists that control-plane instances share.
func WriteLocks(w io.Writer, v inspect.LockListView, o ListOptions) error {
	tables := []Table{lockTable(v, o)}
	if len(v.Denied) > 0 {
		tables = append(tables, deniedTable(v, o))
	}
	if o.Wide {
		tables = append(tables, upgradeTable(v, o), listTable(v, o))
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
	if !o.NoHeaders {
		writeNotes(v, w, o)
	}
	return nil
}

func lockTable(v inspect.LockListView, o ListOptions) Table {
	t := o.table([]layout.Column{
		{Name: "CLUSTER", Drop: 1},
		{Name: "OWNER", Min: 12},
		{Name: "MINE", Drop: 2},
		{Name: "SINCE", Drop: 4},
		{Name: "UNTIL", Drop: 5},
		{Name: "LEFT", Drop: 3},
		{Name: "STATE"},
	})
	for _, l := range v.Items {
		t.Rows = append(t.Rows, lockRow(l, o))
	}
	return t
}

func lockRow(v inspect.LockView, o ListOptions) []string {
	if v.Owner == nil {
		return []string{v.Cluster, phrase.Nothing, phrase.Nothing, phrase.Nothing, phrase.Nothing, phrase.Nothing, string(v.State)}
	}
	owner := *v.Owner
	if owner == "" {
		owner = `""`
	}
	left, until := phrase.UnknownCell, phrase.UnknownCell
	if v.Until != nil {
		until = v.Until.Format(time.RFC3339)
	}
	if v.SecondsLeft != nil {
		left = phrase.Nothing
		if *v.SecondsLeft > 0 {
			left = phrase.Seconds(*v.SecondsLeft)
		}
	}
	return []string{v.Cluster, owner, phrase.YesNo(v.Mine, phrase.UnknownCell), o.time(v.Since), until, left, string(v.State)}
}

func deniedTable(v inspect.LockListView, o ListOptions) Table {
	t := o.table([]layout.Column{
		{Name: "DENIED-ID"},
		{Name: "IN-DB"},
		{Name: "IN-SPEC"},
		{Name: "SET-BY", Drop: 1, Min: 10},
		{Name: "WHEN", Drop: 2},
		{Name: "REASON", Below: true},
	})
	for _, d := range v.Denied {
		spec := string(d.InSpec)
		if d.InSpec == inspect.SpecUnset {
			spec = phrase.Nothing
		}
		t.Rows = append(t.Rows, append([]string{d.ID, phrase.YesNo(&d.InDatabase, phrase.UnknownCell), spec}, provenance(d, o)...))
	}
	return t
}

// provenance returns the user, time and reason of an entry in the database.
func provenance(d inspect.DeniedView, o ListOptions) []string {
	switch {
	case !d.InDatabase:
		return []string{phrase.Nothing, phrase.Nothing, phrase.Nothing}
	case d.SetBy == nil:
		return []string{phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell}
	case d.Reason == nil:
		return []string{*d.SetBy, o.time(d.When), phrase.Nothing}
	default:
		return []string{*d.SetBy, o.time(d.When), *d.Reason}
	}
}

func upgradeTable(v inspect.LockListView, o ListOptions) Table {
	t := o.table([]layout.Column{
		{Name: "UPGRADE-TO"},
		{Name: "GROUPS", Min: 20},
	})
	for _, u := range v.Upgrades {
		t.Rows = append(t.Rows, []string{u.Version, phrase.Or(strings.Join(u.Groups, ","), phrase.Nothing)})
	}
	return t
}

func listTable(v inspect.LockListView, o ListOptions) Table {
	t := o.table([]layout.Column{
		{Name: "LIST"},
		{Name: "CONTROL-PLANE-INSTANCE", Min: 10},
		{Name: "GROUP"},
		{Name: "SINCE", Drop: 1},
	})
	for _, e := range v.Lists {
		t.Rows = append(t.Rows, []string{string(e.List), phrase.Or(e.ControlPlaneInstance, phrase.Nothing), e.Group, o.time(&e.Since)})
	}
	return t
}

// writeNotes explains the tables.
func writeNotes(v inspect.LockListView, w io.Writer, o ListOptions) {
	fmt.Fprintln(w)
	for _, l := range v.Items {
		if !l.Used {
			layout.Line(w, "%s: the spec does not use the lock; passes take none", l.Cluster)
		}
		if l.ManualHolder != nil && l.State == inspect.LockHeld {
			layout.Line(w, "%s: the lock is held manually by %s; passes of the same control-plane instance cannot take it either", l.Cluster, *l.ManualHolder)
		}
	}
	for _, d := range v.Denied {
		if d.Drift != "" {
			layout.Line(w, "%s: %s", d.ID, d.Drift)
		}
	}
	lease := "unknown: it could not be read"
	if v.Lease.Read {
		lease = StatusOptions{Absolute: o.Absolute, Now: o.Now}.held(v.Lease.Holder, v.Lease.Until)
	}
	layout.Line(w, "Lease of runs in this Kubernetes cluster: %s", lease)
	if v.Lease.Operation != nil {
		layout.Line(w, "Operation: %s", StatusOptions{Absolute: o.Absolute, Now: o.Now}.operation(*v.Lease.Operation))
	}
}
