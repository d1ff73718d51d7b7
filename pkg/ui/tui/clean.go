package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean is text as it may be drawn. What a cluster says may hold anything: an event with
// an escape sequence in it must not move the cursor, and one with marks of direction must
// not turn the rest of the line around.
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

// widthOf is how many columns of the terminal a text without escape sequences takes.
func widthOf(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return ansi.StringWidth(text)
}

// cut is text in at most width columns; what had to go is shown by an ellipsis.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if widthOf(text) <= width {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// fit is text in exactly width columns.
func fit(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(0, width-widthOf(text)))
}
