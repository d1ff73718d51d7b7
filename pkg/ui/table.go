package ui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"

// Table is a list that fits the terminal it is printed on.
type Table = layout.Table

// table returns an empty table; wide are the columns that only -o wide has.
func (o ListOptions) table(columns []layout.Column, wide ...string) Table {
	if o.Wide {
		columns = append(columns, plainColumns(wide...)...)
	}
	return Table{Columns: columns, NoHeaders: o.NoHeaders}
}

// plainColumns are columns that stay.
func plainColumns(names ...string) []layout.Column {
	columns := make([]layout.Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

// Paint colors words. Color never carries meaning alone: every colored word
// has the meaning of its color. The zero Paint leaves words as they are.
type Paint struct {
	// Color turns colors on.
	Color bool
}

// The colors, as SGR parameters: the terminal's own palette decides their shade.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p Paint) in(sgr, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return layout.Styled(sgr, text)
}
