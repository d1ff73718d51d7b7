package tui

import (
	"slices"
	"strings"
)

// column is one column of a table.
type column struct {
	title string
	// minimum is the minimum width; 0 if it cannot shrink.
	minimum int
	// from orders the columns that a narrow table omits, those with the largest first: about the
	// width from which one is shown. 0 is never omitted.
	from int
	// usual is the value of a cell without information: a narrow terminal omits a column in
	// which all cells have it.
	usual string
	// right aligns numbers.
	right bool
}

// row is one line of a table: a cell per column, or a headline over those that follow.
type row struct {
	// key identifies the object in all frames; empty for a headline.
	key   string
	cells []span
	// build returns the cells of a row that has none yet; nil if it has. Moving the cursor needs only
	// the order of the rows, and cells take most of the time.
	build func(s clusterView) []span
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

// quantity returns an integer as a number to order by; nil for an unknown one.
func quantity[T int | int64](n *T) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

const between = 2 // spaces between columns

// layout is the columns to show and their widths.
type layout struct {
	shown  []int
	widths []int
}

// layOut returns the widths of columns: as wide as their cells if there is room, else without
// the columns that give way, and narrower, down to their minimum.
func layOut(columns []column, rows []row, width int) layout {
	l := layout{widths: make([]int, len(columns))}
	for i, c := range columns {
		if width < narrow && c.isUsual(i, rows) {
			continue
		}
		l.shown = append(l.shown, i)
		l.widths[i] = widest(i, c, rows)
	}
	for l.minimum(columns) > width {
		at := l.dispensable(columns)
		if at < 0 {
			break
		}
		l.shown = slices.Delete(l.shown, at, at+1)
	}
	for over := l.total() - width; over > 0; over-- {
		at := l.roomiest(columns)
		if at < 0 {
			break
		}
		l.widths[at]--
	}
	return l
}

// total returns the width of the table.
func (l layout) total() int {
	total := -between
	for _, i := range l.shown {
		total += l.widths[i] + between
	}
	return total
}

// minimum returns the width of the table with its columns at their minimum.
func (l layout) minimum(columns []column) int {
	total := -between
	for _, i := range l.shown {
		w := l.widths[i]
		if least := columns[i].minimum; least > 0 {
			w = min(w, least)
		}
		total += w + between
	}
	return total
}

// dispensable returns the position of the column to omit first; -1 for none.
func (l layout) dispensable(columns []column) int {
	at, most := -1, 0
	for n, i := range l.shown {
		if columns[i].from >= most && columns[i].from > 0 {
			at, most = n, columns[i].from
		}
	}
	return at
}

// narrow is the width of a table below which columns without information are omitted.
const narrow = 100

// isUsual reports whether every row has the usual value in the column.
func (c column) isUsual(i int, rows []row) bool {
	return c.usual != "" && !slices.ContainsFunc(rows, func(r row) bool { return r.key != "" && i < len(r.cells) && r.cells[i].Text != c.usual })
}

func widest(i int, c column, rows []row) int {
	w := widthOf(c.title)
	for _, r := range rows {
		if i < len(r.cells) && r.key != "" {
			w = max(w, widthOf(r.cells[i].Text))
		}
	}
	return w
}

// roomiest returns the column with the most room to shrink; -1 if none can.
func (l layout) roomiest(columns []column) int {
	at, most := -1, 0
	for _, i := range l.shown {
		if spare := l.widths[i] - columns[i].minimum; columns[i].minimum > 0 && spare > most {
			at, most = i, spare
		}
	}
	return at
}

// draw draws a row in its columns.
func (l layout) draw(t theme, columns []column, r row, width int) string {
	if r.key == "" {
		return t.Draw(line(r.cells), width)
	}
	cells := l.fill(columns, r, width)
	var b strings.Builder
	for _, s := range cells {
		b.WriteString(t.Paint(s))
	}
	return strings.TrimRight(b.String(), " ")
}

// drawChosen draws the selected row with its mark: with colors it fills the width in one of
// them.
func (l layout) drawChosen(t theme, columns []column, r row, width int) string {
	cells := l.fill(columns, r, width-markWidth)
	return t.Chosen(markChosen+line(cells).Text(), width)
}

// fill returns the cells that are shown, each as wide as its column and the space behind it.
func (l layout) fill(columns []column, r row, width int) []span {
	var cells []span
	left := width
	for n, i := range l.shown {
		s := span{}
		if i < len(r.cells) {
			s = r.cells[i]
		}
		w := min(l.widths[i], left)
		text := fit(s.Text, w)
		if columns[i].right {
			text = strings.Repeat(" ", max(0, w-widthOf(cut(s.Text, w)))) + cut(s.Text, w)
		}
		left -= w
		if n < len(l.shown)-1 {
			text, left = text+strings.Repeat(" ", min(between, left)), max(0, left-between)
		}
		cells = append(cells, span{Text: text, Tone: s.Tone})
	}
	return cells
}
