package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// row is one line of a table: a cell per column, or a headline over those that follow.
type row struct {
	// key identifies the object in all frames; empty for a headline.
	key   string
	cells []span
	// build returns the cells of a row that has none yet; nil if it has. Moving the cursor needs only
	// the order of the rows, and cells take most of the time.
	build func(s clusterView) []span
	// above are the cells of the line above it, on a page of tall rows.
	above []span
	// list is the index of the row's list in the view; 0 for the first. A headline with titles has
	// those of its columns.
	list   int
	titles bool
	// tone is the severity of the row.
	tone tone
	// group is the process group of the row, node its node; empty for none.
	group, node string
	// backup and restore are the resource of the row; empty for none.
	backup, restore string
	// more returns its details; nil if the cells have all of them.
	more func(s clusterView) []line
	// number returns what rows are ordered by in a column whose cells are numbers with units; nil
	// for a column of text, and where it is unknown.
	number func(s clusterView, column string) *float64
}

// titles returns the columns of a list, and before them the one of marks.
func titles[T any](columns []list.Column[T]) []layout.Column {
	return append([]layout.Column{{Name: " "}}, layout.Of(columns)...)
}

// listed completes the row of an item of a list: with its cells, after the mark of its severity,
// and its numbers.
func listed[T any](columns []list.Column[T], item T, r row) row {
	r.build = func(s clusterView) []span {
		cells := make([]span, 0, len(columns)+1)
		cells = append(cells, styled(r.tone, r.tone.Mark()))
		for _, c := range columns {
			cells = append(cells, drawn(c.Cell(s.times(), item)))
		}
		return cells
	}
	r.number = func(s clusterView, title string) *float64 {
		i := slices.IndexFunc(columns, func(c list.Column[T]) bool { return c.Title == title })
		if i < 0 || columns[i].Number == nil {
			return nil
		}
		return columns[i].Number(s.times(), item)
	}
	return r
}

// drawn returns a cell as the dashboard shows it: a part of a whole has a bar.
func drawn(c list.Cell) span {
	if c.Share != nil {
		return styled(c.Tone, barOf(*c.Share, shortBar))
	}
	return styled(c.Tone, c.Text)
}

// numberOf returns the number of a column; nil for none.
func (r row) numberOf(s clusterView, column string) *float64 {
	if r.number == nil {
		return nil
	}
	return r.number(s, column)
}

// cell returns the text of a cell.
func (r row) cell(i int) string {
	if i >= len(r.cells) {
		return ""
	}
	return r.cells[i].Text
}

// table is the columns that are shown, and how wide.
type table struct {
	columns []layout.Column
	layout.Fitted
}

// layOutAll fits the lists of a view to a width, each for itself.
func (p page) layOutAll(width int) []table {
	tables := make([]table, 1+len(p.others))
	for i := range tables {
		var rows []row
		for _, r := range p.rows {
			if r.list == i {
				rows = append(rows, r)
			}
		}
		tables[i] = layOut(p.columnsOf(row{list: i}), rows, width)
	}
	return tables
}

// layOut fits rows to a width. Headlines have a line of their own.
func layOut(columns []layout.Column, rows []row, width int) table {
	return table{columns, layout.Grid{Columns: columns, Rows: len(rows), Cut: true, Cell: func(i, column int) string {
		if rows[i].key == "" {
			return ""
		}
		return rows[i].cell(column)
	}}.Fit(max(1, width))}
}

// draw draws a row in its columns.
func (t table) draw(colors theme, r row, width int) string {
	if r.key == "" && !r.titles {
		return colors.Draw(paint.AtWord(line(r.cells), width), width)
	}
	cells := t.fill(r, width)
	var b strings.Builder
	for _, s := range cells {
		b.WriteString(colors.Paint(s))
	}
	return strings.TrimRight(b.String(), " ")
}

// drawChosen draws the selected row with its mark: with colors it fills the width in one of
// them.
func (t table) drawChosen(colors theme, r row, width int) string {
	cells := t.fill(r, width-markWidth)
	return colors.Chosen(markChosen+line(cells).Text(), width)
}

// fill returns the cells that are shown, each as wide as its column and the space behind it; the last one of a row that has fewer
// cells than columns has the room of all behind it.
func (t table) fill(r row, width int) []span {
	var cells []span
	left := width
	for n, i := range t.Shown {
		s := span{}
		if i < len(r.cells) {
			s = r.cells[i]
		}
		w := min(t.Widths[n], left)
		if i == len(r.cells)-1 && n < len(t.Shown)-1 {
			w = left
		}
		text := layout.CutAtWord(s.Text, w)
		if blanks := strings.Repeat(" ", max(0, w-widthOf(text))); t.columns[i].Right {
			text = blanks + text
		} else {
			text += blanks
		}
		left -= w
		if n < len(t.Shown)-1 {
			text, left = text+strings.Repeat(" ", min(t.Gap, left)), max(0, left-t.Gap)
		}
		cells = append(cells, span{Text: text, Tone: s.Tone})
	}
	return cells
}

const (
	// barWidth is the width of a bar.
	barWidth = 10
	// shortBar is that of one in a table: there are many columns.
	shortBar = 6
)

// bar returns a share as a bar and a number. Only the whole fills it.
func bar(share float64) string { return barOf(share, barWidth) }

// barOf returns a bar of a width.
func barOf(share float64, width int) string {
	return blocks(share, width) + fmt.Sprintf(" %d%%", int(math.Floor(min(1, max(0, share))*100)))
}

// blocks returns a bar of a width without the number.
func blocks(share float64, width int) string {
	full := int(math.Floor(min(1, max(0, share)) * float64(width)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// The text of views, by short names: it is in every line of them.
type (
	tone  = paint.Tone
	span  = paint.Span
	line  = paint.Line
	theme = paint.Theme
)

const (
	plain  = paint.Plain
	faint  = paint.Faint
	strong = paint.Strong
	good   = paint.Good
	busy   = paint.Busy
	unsure = paint.Unsure
	warn   = paint.Warn
	bad    = paint.Bad

	markGood    = list.MarkGood
	markWarn    = list.MarkWarn
	markBad     = list.MarkBad
	markUnknown = list.MarkUnknown
	markChosen  = paint.MarkChosen
)

func styled(t tone, text string) span { return paint.Styled(t, text) }

func styledLine(t tone, text string) line { return paint.StyledLine(t, text) }

func faintLines(texts []string) []line {
	var lines []line
	for _, text := range texts {
		lines = append(lines, styledLine(faint, text))
	}
	return lines
}

func heading(text string) line { return paint.Heading(text) }

func fact(name, value string) line { return paint.Fact(name, value) }

func factIn(t tone, name, value string) line { return paint.FactIn(t, name, value) }

func wrapped(l line, width int) []line { return paint.Wrapped(l, width) }

func flowed(pieces []line, separator span, indent, width int) []line {
	return paint.Flowed(pieces, separator, indent, width)
}

// fitted returns clauses in at most so many lines.
func fitted(clauses []paint.Clause, width, most int) []line {
	return paint.Fitted(clauses, styled(faint, " · "), len("  "), width, most)
}

func commandLines(commands ...string) []line { return paint.CommandLines(commands...) }

func widthOf(text string) int { return cells.Width(text) }

func cut(text string, width int) string { return cells.Cut(text, width) }

func fit(text string, width int) string { return cells.Fit(text, width) }

// toneOfCount returns the severity of a number of problems.
func toneOfCount(n int) tone {
	if n > 0 {
		return warn
	}
	return good
}
