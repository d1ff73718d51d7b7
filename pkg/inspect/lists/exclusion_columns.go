package lists

import "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"

// List returns the exclusions with their columns.
func (v ExclusionListView) List() list.Table { return list.Of(ExclusionColumns, v.Items) }

// ExclusionColumns are the columns of exclusions.
var ExclusionColumns = []list.Column[ExclusionView]{
	{Title: "TARGET", Meaning: "Address or locality that is excluded", Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Text(e.Target) }},
	{Title: "STATE", Meaning: "Progress of the exclusion; safe is proven", Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Text(e.State) }},
	{Title: "FAILED", Meaning: "Whether the processes were excluded as failed, whose data is given up", Cell: func(_ list.At, e ExclusionView) list.Cell { return list.YesNo(&e.Failed) }},
	{Title: "GROUPS", Meaning: "Process groups that it covers", Drop: 1, Min: 16, Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Joined(e.Groups) }},
	{Title: "PROCESSES", Meaning: "Addresses of the processes that it covers", Drop: 2, Min: 16, Cell: func(_ list.At, e ExclusionView) list.Cell { return list.Joined(e.Processes) }},
}
