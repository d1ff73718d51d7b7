// Package list declares the lists that users see. A column is declared once, beside the document
// whose rows it is of: its title, its meaning, how it gives way on narrow terminals, and its cells.
// The table of a command, -o wide, -o custom-columns and the views of the dashboard are selections
// of the same declaration.
//
// Two cells have no value: "-" of one that does not exist or is not set, such as the node of a pod
// that is not scheduled, and "?" of one that exists and is unknown, such as the roles of a process
// whose database does not answer. An unknown value never has the cell of a good one.
package list

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Column is one column of a list.
type Column[T any] struct {
	// Title is its name everywhere; Meaning is one sentence about its cells, for the dashboard's
	// help and the documentation.
	Title, Meaning string
	// Min is the width, in cells, down to which cells are wrapped, or cut in the dashboard; 0 for
	// cells that stay whole as long as another column can give way.
	Min int
	// Typical is the width, in cells, that the dashboard has to have for the column, whatever its cells
	// are at the moment: columns stay while values such as ages change their length. Where it is 0, that
	// is Min, or without it the widest cell: IDs are never cut for another column.
	Typical int
	// Repeats is the title of another column whose cells, or their beginning, these repeat in many
	// clusters: then no other column goes before this one.
	Repeats string
	// Drop orders the columns that a narrow terminal leaves out: the highest goes first. Columns
	// with 0 stay: those that identify a row, and its state.
	Drop int
	// Place is where the column is shown.
	Place Place
	// Below prints cells below their row where a table is too wide.
	Below bool
	// Right aligns numbers in the dashboard.
	Right bool
	// Cell is its cell of an item.
	Cell func(at At, item T) Cell
	// Number is what the dashboard orders items by, where cells are numbers with units; a nil
	// function for a column of text, and a nil number where it is unknown.
	Number func(at At, item T) *float64
}

// Place is where a column is shown.
type Place int

// The places.
const (
	// Always is in every table.
	Always Place = iota
	// Optional is in every table of items of which any has a value.
	Optional
	// Roomy is where there is room for the column beside all others, which a pipe has.
	Roomy
	// Wide is only with -o wide, and in the dashboard where there is room beside all others.
	Wide
	// Dashboard is in every view of the dashboard, and in tables of commands only with -o wide.
	Dashboard
	// WideOptional is Wide and Optional.
	WideOptional
)

// IsWide reports whether tables of commands have the column only with -o wide.
func (p Place) IsWide() bool { return p == Wide || p == WideOptional || p == Dashboard }

// IsRoomy reports whether the column is shown only where there is room for it beside all others.
func (p Place) IsRoomy() bool { return p == Roomy || p == Wide || p == WideOptional }

// IsOptional reports whether a column without a value in any row is left out.
func (p Place) IsOptional() bool { return p == Optional || p == WideOptional }

// Table is a list with its items: its columns are of the indexes of rows.
type Table struct {
	Columns []Column[int]
	Rows    int
}

// Of returns a list of items.
func Of[T any](columns []Column[T], items []T) Table {
	t := Table{Rows: len(items)}
	for _, c := range columns {
		t.Columns = append(t.Columns, over(c, items))
	}
	return t
}

func over[T any](c Column[T], items []T) Column[int] {
	o := Column[int]{Title: c.Title, Meaning: c.Meaning, Min: c.Min, Typical: c.Typical, Repeats: c.Repeats, Drop: c.Drop, Place: c.Place, Below: c.Below, Right: c.Right}
	o.Cell = func(at At, i int) Cell { return c.Cell(at, items[i]) }
	if c.Number != nil {
		o.Number = func(at At, i int) *float64 { return c.Number(at, items[i]) }
	}
	return o
}

// Document is a document whose items have declared columns.
type Document interface{ List() Table }

// Labeled is a document whose items are objects of Kubernetes, or have one.
type Labeled interface {
	// Labels are those of the items: nil where they are unknown.
	Labels() []map[string]string
}

// Noted is a document with remarks below its list.
type Noted interface{ Notes() []string }

// Without returns the columns without some: those that say the same in all rows of a table.
func Without[T any](columns []Column[T], titles ...string) []Column[T] {
	return slices.DeleteFunc(slices.Clone(columns), func(c Column[T]) bool { return slices.Contains(titles, c.Title) })
}

// Column returns the column of a title.
func (t Table) Column(title string) (Column[int], bool) {
	i := slices.IndexFunc(t.Columns, func(c Column[int]) bool { return strings.EqualFold(c.Title, title) })
	if i < 0 {
		return Column[int]{}, false
	}
	return t.Columns[i], true
}

// Titles returns the titles of the columns.
func (t Table) Titles() []string {
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
	}
	return titles
}

// Cell is a value of an item in a column.
type Cell struct {
	Text string
	Tone Tone
	// Value is whether the text is one; else it stands for none.
	Value Value
	// Share is a part of a whole, from 0 to 1, which the dashboard draws as a bar; nil for other cells.
	Share *float64
}

// Value is whether a cell has a value.
type Value int

// The cells with a value, and without.
const (
	Present Value = iota
	// Absent is the cell of a value that does not exist, or is not set: "-".
	Absent
	// Unknown is that of one that exists and is unknown: "?".
	Unknown
)

// In returns the cell in a tone. That there is nothing is not good: a page full of green shows nothing.
func (c Cell) In(t Tone) Cell {
	if c.Value != Absent || t != Good {
		c.Tone = t
	}
	return c
}

// Text is the cell of a text; "-" for an empty one.
func Text[S ~string](text S) Cell {
	if text == "" {
		return Cell{Text: phrase.Nothing, Value: Absent}
	}
	return Cell{Text: string(text)}
}

// Known is the cell of a text that exists: "?" where it is unknown.
func Known[S ~string](text S) Cell {
	if text == "" {
		return Cell{Text: phrase.UnknownCell, Value: Unknown}
	}
	return Cell{Text: string(text)}
}

// Words is the cell of several texts: "-" of none, "?" of unknown ones.
func Words(words []string) Cell {
	if words == nil {
		return Known("")
	}
	return Joined(words)
}

// Joined is the cell of several texts; "-" of none.
func Joined(words []string) Cell { return Text(strings.Join(words, ",")) }

// YesNo is the cell of an answer; "?" of an unknown one.
func YesNo(b *bool) Cell { return Known(phrase.YesNo(b, "")) }

// Count is the cell of a number.
func Count(n int) Cell { return Cell{Text: strconv.Itoa(n)} }

// Part is the cell of a part of a whole, as a share and in percent.
func Part(share float64) Cell {
	share = min(1, max(0, share))
	return Cell{Text: strconv.Itoa(int(share*100)) + "%", Share: &share}
}

// Rate is the cell of bytes per second; "-" without one.
func Rate(perSecond *float64) Cell {
	if perSecond == nil {
		return Text("")
	}
	return Text(phrase.Bytes(int64(*perSecond)) + "/s")
}

// Lag is the cell of the time by which something is behind; "-" without one.
func Lag(seconds *float64) Cell {
	if seconds == nil {
		return Text("")
	}
	return Text(strconv.FormatFloat(*seconds, 'f', 1, 64) + "s")
}

// Quantity returns an integer as a number to order by; nil for an unknown one.
func Quantity[N ~int | ~int64](n *N) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// At is how times are shown.
type At struct {
	Now time.Time
	// Absolute shows times instead of ages.
	Absolute bool
}

// Age returns how long ago a time was, or the time; empty without one.
func (a At) Age(t *time.Time) string {
	switch {
	case t == nil:
		return ""
	case a.Absolute:
		return t.Format(time.RFC3339)
	default:
		return phrase.Duration(a.Now.Sub(*t))
	}
}

// Until returns the time until a moment, or the moment; "due" once it has passed, empty without one.
func (a At) Until(t *time.Time) string {
	switch {
	case t == nil:
		return ""
	case a.Absolute:
		return t.Format(time.RFC3339)
	case !t.After(a.Now):
		return "due"
	default:
		return phrase.Until(*t, a.Now)
	}
}

// Lasting returns how long something has lasted, or since when; empty where that is unknown.
func (a At) Lasting(seconds *float64) string {
	if seconds == nil {
		return ""
	}
	lasted := time.Duration(*seconds * float64(time.Second))
	if a.Absolute {
		return a.Now.Add(-lasted).UTC().Format(time.RFC3339)
	}
	return phrase.Duration(lasted)
}

// Seconds returns how long ago a time was, as a number to order by; nil for an unknown time.
func (a At) Seconds(t *time.Time) *float64 {
	if t == nil {
		return nil
	}
	return new(a.Now.Sub(*t).Seconds())
}

// Tone is the meaning of a piece of text. The dashboard shows it by a color, but never only by a
// color: a symbol or a word has the same meaning.
type Tone int

// The tones of cells, the worst last.
const (
	Plain Tone = iota
	Faint
	Strong
	Good
	Busy   // changes as planned
	Unsure // unknown
	Warn
	Bad
	// Tones is how many there are.
	Tones
)

// The symbols that go with tones.
const (
	MarkGood    = "✓"
	MarkBusy    = "▸"
	MarkWarn    = "!"
	MarkBad     = "✗"
	MarkUnknown = phrase.UnknownCell
)

// Mark returns the symbol of a tone.
func (t Tone) Mark() string {
	switch t {
	case Good:
		return MarkGood
	case Busy:
		return MarkBusy
	case Unsure:
		return MarkUnknown
	case Warn:
		return MarkWarn
	case Bad:
		return MarkBad
	default:
		return " "
	}
}

// OfID returns the tone of the ID of an object: that of healthy ones is ordinary, since a page full
// of green shows nothing.
func (t Tone) OfID() Tone {
	if t < Warn {
		return Plain
	}
	return t
}
