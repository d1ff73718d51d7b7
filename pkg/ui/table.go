package ui

import (
	"io"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Table is a list that fits the terminal it is printed on.
type Table = layout.Table

// table returns an empty table; wide are the columns that only -o wide has.
func (o ListOptions) table(columns []layout.Column, wide ...string) Table {
	if o.Wide {
		columns = append(columns, plainColumns(wide...)...)
	}
	return Table{Columns: columns, NoHeaders: o.NoHeaders}
}

// WriteList prints a row per item of a document, with columns beside its own, and its remarks. Without headers there are rows only.
func WriteList(w io.Writer, v list.Document, o ListOptions, beside ...list.Column[int]) error {
	if err := o.declared(v.List(), beside...).Write(w); err != nil || o.NoHeaders {
		return err
	}
	noted, has := v.(list.Noted)
	if !has {
		return nil
	}
	for i, note := range noted.Notes() {
		if i == 0 {
			layout.Line(w, "")
		}
		layout.Line(w, "%s", note)
	}
	return nil
}

// declared returns the table of a list: the columns of -o wide, or those without it, and then those beside.
func (o ListOptions) declared(l list.Table, beside ...list.Column[int]) Table {
	columns := l.Columns
	if !o.Wide {
		columns = slices.DeleteFunc(slices.Clone(columns), func(c list.Column[int]) bool { return c.Place.IsWide() })
	}
	columns = slices.Concat(columns, beside)
	t := Table{Columns: layout.Of(columns), NoHeaders: o.NoHeaders}
	for i := range l.Rows {
		row, styles := make([]string, len(columns)), make([]string, len(columns))
		for j, c := range columns {
			cell := c.Cell(o.at(), i)
			row[j], styles[j] = cell.Text, colors[cell.Tone]
		}
		t.Rows = append(t.Rows, row)
		if o.Color {
			t.Styles = append(t.Styles, styles)
		}
	}
	return t
}

func (o ListOptions) at() list.At { return list.At{Now: o.Now, Absolute: o.Absolute} }

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
	// ASCII draws pictures without other characters, for a terminal that does not show them.
	ASCII bool
}

// The colors, as SGR parameters: the terminal's own palette decides their shade.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p Paint) in(sgr, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return layout.Styled(sgr, text)
}

// colors are those of tones; plain text has none.
var colors = map[list.Tone]string{list.Faint: faint, list.Strong: bold, list.Good: green, list.Busy: cyan, list.Unsure: faint, list.Warn: yellow, list.Bad: red}

// as returns text in the color of a tone.
func (p Paint) as(t list.Tone, text string) string {
	sgr, colored := colors[t]
	if !colored {
		return text
	}
	return p.in(sgr, text)
}

// ListOptions is how a list is printed.
type ListOptions struct {
	Paint
	Wide, NoHeaders, Absolute bool
	// Now is what ages are counted to.
	Now time.Time
}

// time is a moment as an age, or as it is.
func (o ListOptions) time(t *time.Time) string { return phrase.Or(o.at().Age(t), phrase.UnknownCell) }
