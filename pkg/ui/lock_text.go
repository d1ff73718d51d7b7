package ui

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
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
	if !o.NoHeaders {
		writeNotes(v, w, o)
	}
	return nil
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
