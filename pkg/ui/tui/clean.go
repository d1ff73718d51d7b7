package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean returns text that is safe to draw. Text of a cluster can contain anything: an event
// with an escape sequence must not move the cursor, and one with direction marks must not
// reverse the rest of the line.
func clean(text string) string {
	if isPlain(text) {
		return text
	}
	text = ansi.Strip(strings.ToValidUTF8(text, "?"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return -1
		}
		return r
	}, text)
}

// isPlain reports whether text is nothing but printable ASCII, as nearly all is.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= utf8.RuneSelf || text[i] == 0x7f {
			return false
		}
	}
	return true
}

// widthOf returns how many terminal columns a text without escape sequences takes.
func widthOf(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// cut returns text in at most width columns, with an ellipsis if it was shortened.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if widthOf(text) <= width {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// fit returns text in exactly width columns.
func fit(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(0, width-widthOf(text)))
}
