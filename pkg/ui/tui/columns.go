package tui

import (
	"slices"
	"strings"
)

// column is one column of a table.
type column struct {
	title string
	// least is how narrow it may become; 0 is as wide as it is.
	least int
	// from is the width of the screen from which it is shown.
	from int
	// usual is what a cell says when there is nothing to say: where all do, a narrow screen
	// leaves the column out.
	usual string
	// right aligns numbers.
	right bool
}

// row is one line of a table: a cell per column, or a headline over those that follow.
type row struct {
	// key is the same for the same thing in every frame; empty for a headline.
	key   string
	cells []span
	// tone is how bad it is with the row.
	tone tone
	// group is the process group that the row is about, node the node; empty for none.
	group, node string
	// more is all there is to say of it; nil when that is in the cells.
	more func(s sight) []line
}

const between = 2 // blanks between columns

// layout is which columns are shown, and how wide each is.
type layout struct {
	shown  []int
	widths []int
}

// lay finds the widths of columns: as wide as what is in them where there is room, and
// narrower, down to their least, where there is not.
func lay(columns []column, rows []row, width int) layout {
	l := layout{widths: make([]int, len(columns))}
	total := -between
	for i, c := range columns {
		if screen := width + markWidth; c.from > screen || screen < narrow && c.isUsual(i, rows) {
			continue
		}
		l.shown = append(l.shown, i)
		l.widths[i] = widest(i, c, rows)
		total += l.widths[i] + between
	}
	for over := total - width; over > 0; over-- {
		at := l.roomiest(columns)
		if at < 0 {
			break
		}
		l.widths[at]--
	}
	return l
}

// narrow is the width of the screen below which columns that say nothing are left out.
const narrow = 100

// isUsual reports whether the column says the usual in every row.
func (c column) isUsual(i int, rows []row) bool {
	return c.usual != "" && !slices.ContainsFunc(rows, func(r row) bool { return r.key != "" && i < len(r.cells) && r.cells[i].text != c.usual })
}

func widest(i int, c column, rows []row) int {
	w := widthOf(c.title)
	for _, r := range rows {
		if i < len(r.cells) && r.key != "" {
			w = max(w, widthOf(r.cells[i].text))
		}
	}
	return w
}

// roomiest is the column that can best do with less; -1 when none can.
func (l layout) roomiest(columns []column) int {
	at, most := -1, 0
	for _, i := range l.shown {
		if spare := l.widths[i] - columns[i].least; columns[i].least > 0 && spare > most {
			at, most = i, spare
		}
	}
	return at
}

// drawRow is a row in its columns, as wide as the screen when it is the chosen one.
func (t theme) drawRow(l layout, columns []column, r row, width int, chosen bool) string {
	if r.key == "" {
		return t.draw(line(r.cells), width)
	}
	var b strings.Builder
	left := width
	for n, i := range l.shown {
		s := span{}
		if i < len(r.cells) {
			s = r.cells[i]
		}
		w := min(l.widths[i], left)
		text := fit(s.text, w)
		if columns[i].right {
			text = strings.Repeat(" ", max(0, w-widthOf(cut(s.text, w)))) + cut(s.text, w)
		}
		left -= w
		if n < len(l.shown)-1 {
			text, left = text+strings.Repeat(" ", min(between, left)), max(0, left-between)
		} else if chosen && t.color {
			text += strings.Repeat(" ", left)
		}
		b.WriteString(t.paint(span{text, s.tone}, chosen))
	}
	if chosen && t.color {
		return b.String()
	}
	return strings.TrimRight(b.String(), " ")
}
