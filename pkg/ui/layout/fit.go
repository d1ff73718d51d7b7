package layout

import (
	"slices"
	"strings"
)

// Column declares a column of a table, and what happens to it where the table is too wide.
type Column struct {
	Name string
	// Drop orders the columns that a narrow terminal leaves out: the highest goes first. Columns
	// with 0 stay: those that identify a row, and its state.
	Drop int
	// Min is the width, in cells, down to which cells are wrapped; with 0 they stay on one line as
	// long as another column can give way.
	Min int
	// Below prints cells below their row where the table is too wide; with Min only where wrapping
	// them does not help.
	Below bool
	// WideOnly leaves the column out on terminals, except with -o wide.
	WideOnly bool
}

// Fitted is how a table is printed.
type Fitted struct {
	// Shown and Below are the columns in the table and below its rows, by their index.
	Shown, Below []int
	// Widths are those of the columns in the table, in cells.
	Widths []int
	// Gap is the number of blanks between columns.
	Gap int
}

const (
	usualGap  = 3
	narrowGap = 2
	// minWidth is that of a column when nothing else can give way.
	minWidth = 3
	// longestWord is the width of words that are not broken as long as another column can give way.
	longestWord = 48
)

// Nothing is the cell of a value that does not exist.
const Nothing = "-"

// Fit decides which columns of a table are printed within width cells, and how wide. Where the
// table is too wide, columns that can stand below go there; then the least important are dropped
// until the rest fits when wrapped; then the widest are wrapped. With a width of 0 all columns are
// printed as wide as their cells.
func Fit(width int, columns []Column, rows [][]string) Fitted {
	f := fitting{columns: columns, rows: rows, width: width}
	for i, c := range columns {
		if width == 0 || !c.WideOnly {
			f.shown = append(f.shown, i)
		}
	}
	if width == 0 || f.total(f.natural, usualGap) <= width {
		return f.fitted(usualGap)
	}
	f.putBelow()
	for f.total(f.minimum, narrowGap) > width {
		i := f.leastImportant()
		if i < 0 {
			break
		}
		f.shown = without(f.shown, i)
	}
	return f.fitted(narrowGap)
}

type fitting struct {
	columns      []Column
	rows         [][]string
	width        int
	shown, below []int
}

// natural is the width of a column that is not wrapped.
func (f *fitting) natural(i int) int {
	n := Cells(f.columns[i].Name)
	for _, row := range f.rows {
		n = max(n, Cells(row[i]))
	}
	return n
}

// minimum is the width down to which a column is wrapped: no ID in a list is broken for another column.
func (f *fitting) minimum(i int) int {
	n, c := f.natural(i), f.columns[i]
	if c.Min == 0 {
		return n
	}
	longest := 0
	for _, row := range f.rows {
		for word := range strings.FieldsFuncSeq(row[i], func(r rune) bool { return r == ' ' || r == ',' }) {
			longest = max(longest, Cells(word)+1)
		}
	}
	return min(n, max(c.Min, Cells(c.Name), min(longest, longestWord)))
}

func (f *fitting) total(of func(int) int, gap int) int {
	n := gap * max(0, len(f.shown)-1)
	for _, i := range f.shown {
		n += of(i)
	}
	return n
}

// putBelow moves columns that can stand below out of the table until the rest fits when wrapped,
// the last first.
func (f *fitting) putBelow() {
	for _, i := range slices.Backward(slices.Clone(f.shown)) {
		if f.columns[i].Below && f.total(f.minimum, narrowGap) > f.width {
			f.shown = without(f.shown, i)
			f.below = slices.Insert(f.below, 0, i)
		}
	}
}

// leastImportant returns the column to drop next: one without any value, else by its order; -1 if
// all have to stay.
func (f *fitting) leastImportant() int {
	best, rank := -1, 0
	for _, i := range f.shown {
		drop := f.columns[i].Drop
		if drop > 0 && f.empty(i) {
			drop += 1 << 16
		}
		if drop >= rank && drop > 0 {
			best, rank = i, drop
		}
	}
	return best
}

func (f *fitting) empty(i int) bool {
	for _, row := range f.rows {
		if row[i] != Nothing && row[i] != "" {
			return false
		}
	}
	return true
}

// fitted narrows the widest columns until all fit: first down to their minimum, then those that
// have to stay as well.
func (f *fitting) fitted(gap int) Fitted {
	r := Fitted{Shown: f.shown, Below: f.below, Gap: gap, Widths: make([]int, len(f.shown))}
	total := gap * max(0, len(f.shown)-1)
	for at, i := range f.shown {
		r.Widths[at] = f.natural(i)
		total += r.Widths[at]
	}
	if f.width == 0 {
		return r
	}
	least := make([]int, len(f.shown))
	for at, i := range f.shown {
		least[at] = f.minimum(i)
	}
	total = narrow(r.Widths, least, total, f.width)
	for at := range least {
		least[at] = minWidth
	}
	narrow(r.Widths, least, total, f.width)
	return r
}

// narrow takes cells from the widest columns, and returns the new total.
func narrow(widths, least []int, total, width int) int {
	for total > width {
		widest := -1
		for at := range widths {
			if widths[at] > least[at] && (widest < 0 || widths[at] > widths[widest]) {
				widest = at
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	return total
}

func without(all []int, one int) []int {
	var rest []int
	for _, i := range all {
		if i != one {
			rest = append(rest, i)
		}
	}
	return rest
}
