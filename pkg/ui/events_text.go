package ui

import (
	"io"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteEvents prints a row per event.
func WriteEvents(w io.Writer, v inspect.EventListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "SEEN"},
		{Name: "TYPE", Drop: 2},
		{Name: "REASON"},
		{Name: "OBJECT", Min: 16},
		{Name: "COUNT", Drop: 1},
		{Name: "MESSAGE", Below: true},
	}, "FIRST", "FROM")
	for _, e := range v.Items {
		row := []string{o.time(&e.Time), e.Type, e.Reason, e.Object, strconv.Itoa(e.Count), phrase.Or(e.Message, phrase.Nothing)}
		if o.Wide {
			row = append(row, o.time(&e.First), phrase.Or(e.From, phrase.Nothing))
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}
