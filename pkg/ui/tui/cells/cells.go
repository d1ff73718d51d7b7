// Package cells fits text into the columns of a terminal.
package cells

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// Clean returns text that is safe to draw on one line: its control characters are shown, its secrets hidden.
func Clean(text string) string { return phrase.VisibleLine(redact.Text(text)) }

// IsPlain reports whether text is nothing but printable ASCII, as nearly all is.
func IsPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= utf8.RuneSelf || text[i] == 0x7f {
			return false
		}
	}
	return true
}

// Width returns how many terminal columns a text without escape sequences takes.
func Width(text string) int {
	if IsPlain(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// Cut returns text in at most width columns, with an ellipsis if it was shortened.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(text) <= width {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// From returns text without its first columns.
func From(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	return ansi.TruncateLeft(text, columns, "")
}

// Fit returns text in exactly width columns.
func Fit(text string, width int) string {
	text = Cut(text, width)
	return text + strings.Repeat(" ", max(0, width-Width(text)))
}

// Words returns a text in lines of at most width columns, broken between words, and within
// words that are longer than a line.
func Words(text string, width int) []string {
	var lines []string
	last, used := "", 0
	for word := range strings.FieldsSeq(text) {
		w := Width(word)
		if used > 0 && used+1+w <= width {
			last, used = last+" "+word, used+1+w
			continue
		}
		if used > 0 {
			lines = append(lines, last)
		}
		for w > width {
			begin := beginning(word, width)
			lines, word = append(lines, begin), word[len(begin):]
			w = Width(word)
		}
		last, used = word, w
	}
	return append(lines, last)
}

// beginning returns as much of a word as fits, at least one character.
func beginning(word string, width int) string {
	for w := width; ; w++ {
		if begin := ansi.Truncate(word, w, ""); begin != "" {
			return begin
		}
	}
}

// Squeezed returns texts in which tables that are too wide have narrower gaps between their
// columns, so that their rows do not wrap.
func Squeezed(texts []string, width int) []string {
	var all, table []string
	flush := func() {
		for gap := 2; gap > 0 && widestOf(table) > width; gap-- {
			table = narrowed(table, gap)
		}
		all, table = append(all, table...), nil
	}
	for _, text := range texts {
		if !strings.Contains(strings.TrimSpace(text), "  ") {
			flush()
			all = append(all, text)
			continue
		}
		table = append(table, text)
	}
	flush()
	return all
}

// narrowed returns the rows of a table with gaps of at most gap spaces where all rows have
// spaces.
func narrowed(rows []string, gap int) []string {
	cells := make([][]rune, len(rows))
	for i, row := range rows {
		cells[i] = cellsOf(row)
	}
	blank := func(at int) bool {
		for _, row := range cells {
			if at < len(row) && row[at] != ' ' {
				return false
			}
		}
		return true
	}
	kept := make([][]rune, len(rows))
	for at, run := 0, 0; at < longest(cells); at++ {
		if !blank(at) {
			run = 0
		} else if run++; run > gap {
			continue
		}
		for i, row := range cells {
			if at < len(row) && row[at] != 0 {
				kept[i] = append(kept[i], row[at])
			}
		}
	}
	narrow := make([]string, len(rows))
	for i := range kept {
		narrow[i] = string(kept[i])
	}
	return narrow
}

// cellsOf returns the character in each terminal cell: 0 after one that takes two cells.
func cellsOf(row string) []rune {
	var cells []rune
	for _, r := range row {
		cells = append(cells, r)
		for range Width(string(r)) - 1 {
			cells = append(cells, 0)
		}
	}
	return cells
}

func longest(rows [][]rune) int {
	most := 0
	for _, row := range rows {
		most = max(most, len(row))
	}
	return most
}

func widestOf(texts []string) int {
	most := 0
	for _, text := range texts {
		most = max(most, Width(text))
	}
	return most
}
