package inspect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// List returns the events with their columns.
func (v EventListView) List() list.Table { return list.Of(EventColumns, v.Items) }

// EventColumns are the columns of events.
var EventColumns = []list.Column[EventView]{
	{Title: "SEEN", Meaning: "Age of the last occurrence", Typical: 6, Right: true, Cell: func(at list.At, e EventView) list.Cell { return list.Text(at.Age(&e.Time)) }, Number: func(at list.At, e EventView) *float64 { return at.Seconds(&e.Time) }},
	{Title: "TYPE", Meaning: "Normal or Warning", Typical: 7, Drop: 4, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.Type) }},
	{Title: "REASON", Meaning: "Reason that the component gives", Typical: 20, Min: 12, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.Reason).In(e.Tone()) }},
	{Title: "OBJECT", Meaning: "Kind and name of the object", Typical: 40, Drop: 2, Min: 16, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.Object) }},
	{Title: "COUNT", Meaning: "Number of occurrences", Typical: 5, Drop: 3, Right: true, Cell: func(_ list.At, e EventView) list.Cell { return list.Count(e.Count) }, Number: func(_ list.At, e EventView) *float64 { return list.Quantity(&e.Count) }},
	{Title: "MESSAGE", Meaning: "What happened", Below: true, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(phrase.Or(e.did, e.Message)) }},
	{Title: "FIRST", Meaning: "Age of the first occurrence", Typical: 6, Drop: 6, Right: true, Place: list.Wide, Cell: func(at list.At, e EventView) list.Cell { return list.Text(at.Age(&e.First)) }, Number: func(at list.At, e EventView) *float64 { return at.Seconds(&e.First) }},
	{Title: "FROM", Meaning: "Component that reported it", Typical: 20, Drop: 5, Place: list.Wide, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.From) }},
	{Title: "BY", Meaning: "Command, reason, user and run of an event of this program; - for others", Typical: 40, Min: 16, Drop: 7, Place: list.WideOptional, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.by) }},
}

// Tone is how bad an event is.
func (v EventView) Tone() list.Tone {
	if v.Type == corev1.EventTypeWarning {
		return list.Warn
	}
	return list.Plain
}
