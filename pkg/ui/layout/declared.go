package layout

import "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"

// Of returns the layout of declared columns.
func Of[T any](columns []list.Column[T]) []Column {
	all := make([]Column, len(columns))
	for i, c := range columns {
		all[i] = Column{
			Name: c.Title, Meaning: c.Meaning, Drop: c.Drop, Min: c.Min, Typical: c.Typical, Repeats: c.Repeats, Below: c.Below, Right: c.Right,
			Roomy: c.Place.IsRoomy(), Optional: c.Place.IsOptional(),
		}
	}
	return all
}
