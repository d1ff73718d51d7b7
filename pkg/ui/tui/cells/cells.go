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
