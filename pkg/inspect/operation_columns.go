package inspect

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
)

// List returns the operations with their columns.
func (v OperationListView) List() list.Table { return list.Of(OperationColumns, v.Items) }

// OperationColumns are the columns of operations; "?" where the Lease could not be read.
var OperationColumns = []list.Column[OperationItem]{
	{Title: "NAMESPACE", Meaning: "Namespace of the cluster", Drop: 3, Cell: func(_ list.At, i OperationItem) list.Cell { return list.Text(i.Namespace) }},
	{Title: "CLUSTER", Meaning: "Name of the cluster", Cell: func(_ list.At, i OperationItem) list.Cell { return list.Text(i.Cluster) }},
	{Title: "ID", Meaning: "ID of the run; - for one of an older release", Drop: 4, Cell: func(_ list.At, i OperationItem) list.Cell { return i.of(func(v OperationView) string { return v.ID }) }},
	{Title: "COMMAND", Meaning: "Command with the flags that affect what it does", Min: 16, Cell: func(_ list.At, i OperationItem) list.Cell {
		return i.of(func(v OperationView) string { return v.Command })
	}},
	{Title: "USER", Meaning: "User and host of the run", Drop: 1, Min: 8, Cell: func(_ list.At, i OperationItem) list.Cell { return i.of(OperationView.By) }},
	{Title: "STARTED", Meaning: "Age of the operation", Cell: func(at list.At, i OperationItem) list.Cell {
		return i.of(func(v OperationView) string { return at.Age(v.Since) })
	}},
	{Title: "STATE", Meaning: "active, awaiting-answer of its user, aborting, or lost where the run no longer reports", Cell: func(_ list.At, i OperationItem) list.Cell { return i.of(OperationView.state) }},
	{Title: "PROGRESS", Meaning: "What is done, how long it still takes, and what it waits for", Drop: 2, Min: 16, Cell: func(at list.At, i OperationItem) list.Cell {
		return i.of(func(v OperationView) string { return strings.Join(v.Words(at.Now), ", ") })
	}},
}

// of is the cell of a text of the operation; "?" where the Lease could not be read.
func (i OperationItem) of(text func(OperationView) string) list.Cell {
	if i.Operation == nil {
		return list.Known("")
	}
	return list.Text(text(*i.Operation))
}

func (v OperationView) state() string {
	switch {
	case !v.Active:
		return "lost"
	case v.Abort != nil:
		return "aborting"
	case v.Progress.AskedAt != nil:
		return "awaiting-answer"
	default:
		return "active"
	}
}
