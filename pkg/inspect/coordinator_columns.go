package inspect

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// List returns the coordinators with their columns.
func (v CoordinatorListView) List() list.Table { return list.Of(CoordinatorColumns, v.Items) }

// Notes returns whether a quorum answers.
func (v CoordinatorListView) Notes() []string { return []string{v.Quorum()} }

// Quorum returns how many coordinators answer, and whether a quorum does.
func (v CoordinatorListView) Quorum() string {
	return fmt.Sprintf("%s of %d reachable, %d desired; quorum reachable: %s", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items), v.Desired, phrase.YesNo(v.QuorumReachable, phrase.UnknownCell))
}

// CoordinatorColumns are the columns of coordinators.
var CoordinatorColumns = []list.Column[CoordinatorDetailView]{
	{Title: "ADDRESS", Meaning: "Address in the connection string", Min: 16, Below: true, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Text(c.Address) }},
	{Title: "ID", Meaning: "ID of the process group that has the address", Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Known(c.Group) }},
	{Title: "ZONE", Meaning: "Fault domain of the process group", Drop: 1, Min: 10, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Known(c.Zone) }},
	{Title: "DC", Meaning: "Data center, where processes report one", Drop: 3, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.Text(c.DC) }},
	{Title: "REACHABLE", Meaning: "Whether the coordinator answers", Typical: 9, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.YesNo(c.Reachable).In(c.Tone()) }},
	{Title: "REMOVAL", Meaning: "Whether its process group is marked for removal or excluded, so that the next pass moves the coordinator", Typical: 7, Drop: 2, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.YesNo(c.Removing) }},
	{Title: "TLS", Meaning: "Whether the address is one of TLS", Typical: 3, Drop: 4, Cell: func(_ list.At, c CoordinatorDetailView) list.Cell { return list.YesNo(&c.TLS) }},
}

// Tone is how bad the state of a coordinator is.
func (v CoordinatorDetailView) Tone() list.Tone {
	switch {
	case !ptr.Deref(v.Reachable, true):
		return list.Bad
	case ptr.Deref(v.Removing, false):
		return list.Warn
	case v.Reachable == nil:
		return list.Unsure
	default:
		return list.Good
	}
}
