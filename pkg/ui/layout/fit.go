package layout

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Column declares a column of a table, and what happens to it where the table is too wide.
type Column struct {
	Name string
	// Meaning is one sentence about its cells; empty for a column that is not declared.
	Meaning string
	// Drop orders the columns that a narrow terminal leaves out: the highest goes first. Columns
	// with 0 stay: those that identify a row, and its state.
	Drop int
	// Min is the width, in cells, down to which cells are wrapped or cut; with 0 they stay whole as
	// long as another column can give way.
	Min int
	// Typical is the width, in cells, that a view of the dashboard has to have for the column; 0 for Min,
	// or without it for that of the widest cell.
	Typical int
	// Repeats is the name of a column whose cells, or their beginning, these repeat in many tables: then
	// no other column goes before this one.
	Repeats string
	// Below prints cells below their row where the table is too wide; with Min only where wrapping
	// them does not help.
	Below bool
	// Roomy leaves the column out where there is no room for it beside all others.
	Roomy bool
	// Optional leaves the column out where no row has a value.
	Optional bool
	// Right aligns cells to the right, where they are cut.
	Right bool
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
	// cutText is the width down to which a sentence is cut that cannot stand below its row.
	cutText = 24
)

// Grid is a table that has to fit a width.
type Grid struct {
	Columns []Column
	Rows    int
	// Cell returns a cell; empty for a row that has no cells.
	Cell func(row, column int) string
	// Cut is whether cells that are too long are cut, so that no word in them has to stay whole; else
	// they are wrapped. The columns of such a table stay while the length of values changes.
	Cut bool
}

// Fit decides which columns are printed within width cells, and how wide. Where the table is too
// wide, columns that need room beside all others go first; then those that can stand below go
// there; then the least important are dropped until the rest fits at its minimum, beginning with
// those without a value, those that repeat another, and those in which all is unknown; then these and the widest are narrowed. With a
// width of 0 all columns are printed as wide as their cells.
func (g Grid) Fit(width int) Fitted {
	f := fitting{columns: g.Columns, width: width, sizes: make([]size, len(g.Columns))}
	for i, c := range g.Columns {
		f.sizes[i] = g.measure(i)
		if !c.Optional || !f.sizes[i].empty {
			f.shown = append(f.shown, i)
		}
	}
	gap := usualGap
	if g.Cut {
		gap = narrowGap
	}
	if width == 0 {
		return f.fitted(gap)
	}
	f.drop(func(c Column) bool { return c.Roomy }, usual, gap)
	if f.total(usual, gap) <= width {
		return f.fitted(gap)
	}
	if !g.Cut {
		f.putBelow()
	}
	f.drop(func(c Column) bool { return c.Drop > 0 }, needed, narrowGap)
	return f.fitted(narrowGap)
}

// size is what a column needs: natural is its width without wrapping or cutting, least the width
// down to which it is narrowed. It is shown where there is room for needed, and one that is roomy
// where there is room for usual. It is empty where no row has a value, a twin where it repeats
// another column, and unknown where no row has a known value.
type size struct {
	natural, least, usual, needed int
	empty, twin, unknown          bool
}

func usual(s size) int { return s.usual }

func needed(s size) int { return s.needed }

// measure returns the size of a column. No ID in a list that is wrapped is broken for another column.
func (g Grid) measure(column int) size {
	c := g.Columns[column]
	title, longest, known := Cells(c.Name), 0, false
	s := size{natural: title, empty: true, twin: g.isTwin(column)}
	for row := range g.Rows {
		cell := g.Cell(row, column)
		s.natural = max(s.natural, Cells(cell))
		s.empty = s.empty && (cell == phrase.Nothing || cell == "")
		known = known || cell != phrase.Nothing && cell != "" && cell != phrase.UnknownCell
		if c.Min == 0 || g.Cut {
			continue
		}
		for word := range strings.FieldsFuncSeq(cell, func(r rune) bool { return r == ' ' || r == ',' }) {
			longest = max(longest, Cells(word)+1)
		}
	}
	s.least = s.natural
	switch {
	case g.Cut && c.Below && c.Min == 0:
		s.least = min(s.natural, cutText)
	case c.Min > 0:
		s.least = min(s.natural, max(c.Min, title, min(longest, longestWord)))
	}
	s.usual, s.needed, s.unknown = s.natural, s.least, g.Cut && !known && !s.empty
	if g.Cut {
		s.usual, s.needed = g.declared(c, s)
	}
	if s.unknown {
		s.least = min(minWidth, s.natural)
		s.needed = s.least
	}
	return s
}

// declared returns the widths of a column by its declaration, which no value changes. Only a column of
// names, which has no width of its own, is as wide as these.
func (g Grid) declared(c Column, s size) (usual, needed int) {
	least := c.Min
	if c.Below && c.Min == 0 {
		least = cutText
	}
	switch {
	case least > 0:
		needed = max(least, Cells(c.Name))
	case c.Typical > 0:
		needed = max(c.Typical, Cells(c.Name))
	default:
		needed = s.natural
	}
	return max(needed, c.Typical), needed
}

// isTwin reports whether a column repeats the one that it declares, or the beginning of it, in all rows.
func (g Grid) isTwin(column int) bool {
	other := slices.IndexFunc(g.Columns, func(c Column) bool { return c.Name == g.Columns[column].Repeats })
	if g.Columns[column].Repeats == "" || other < 0 {
		return false
	}
	for row := range g.Rows {
		cell, whole := g.Cell(row, column), g.Cell(row, other)
		if cell != whole && !strings.HasPrefix(whole, cell+"-") {
			return false
		}
	}
	return true
}

type fitting struct {
	columns      []Column
	sizes        []size
	width        int
	shown, below []int
}

// drop leaves out the least important of some columns until the rest fits.
func (f *fitting) drop(some func(Column) bool, of func(size) int, gap int) {
	for f.total(of, gap) > f.width {
		i := f.leastImportant(some)
		if i < 0 {
			return
		}
		f.shown = without(f.shown, i)
	}
}

func (f *fitting) total(of func(size) int, gap int) int {
	n := gap * max(0, len(f.shown)-1)
	for _, i := range f.shown {
		n += of(f.sizes[i])
	}
	return n
}

// putBelow moves columns that can stand below out of the table until the rest fits at its minimum,
// the last first.
func (f *fitting) putBelow() {
	for _, i := range slices.Backward(slices.Clone(f.shown)) {
		if f.columns[i].Below && f.total(needed, narrowGap) > f.width {
			f.shown = without(f.shown, i)
			f.below = slices.Insert(f.below, 0, i)
		}
	}
}

// leastImportant returns the column to drop next among some: one without any value, else one that
// repeats another, else one in which all is unknown, which the marks of the rows show as well, else by its order; -1 if there is none.
func (f *fitting) leastImportant(among func(Column) bool) int {
	best, rank := -1, 0
	for _, i := range f.shown {
		if !among(f.columns[i]) {
			continue
		}
		drop := f.columns[i].Drop
		if f.sizes[i].empty {
			drop += 1 << 17
		} else if f.sizes[i].twin {
			drop += 1 << 16
		} else if f.sizes[i].unknown {
			drop += 1 << 15
		}
		if drop >= rank {
			best, rank = i, drop
		}
	}
	return best
}

// fitted narrows the widest columns until all fit: first those in which all is unknown, then the others down to their minimum, then
// any but those of names, then these as well.
func (f *fitting) fitted(gap int) Fitted {
	r := Fitted{Shown: f.shown, Below: f.below, Gap: gap, Widths: make([]int, len(f.shown))}
	total := gap * max(0, len(f.shown)-1)
	for at, i := range f.shown {
		r.Widths[at] = f.sizes[i].natural
		total += r.Widths[at]
	}
	if f.width == 0 {
		return r
	}
	minima := slices.Clone(r.Widths)
	for at, i := range f.shown {
		if f.sizes[i].unknown {
			minima[at] = f.sizes[i].least
		}
	}
	total = narrow(r.Widths, minima, total, f.width)
	for at, i := range f.shown {
		minima[at] = f.sizes[i].least
	}
	total = narrow(r.Widths, minima, total, f.width)
	for at, i := range f.shown {
		if c := f.columns[i]; c.Min > 0 || c.Typical > 0 || c.Below {
			minima[at] = minWidth
		}
	}
	total = narrow(r.Widths, minima, total, f.width)
	for at := range minima {
		minima[at] = minWidth
	}
	narrow(r.Widths, minima, total, f.width)
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
