package phrase

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text with its control characters shown instead of sent: ESC as "^[", as kubectl
// shows it, other ASCII ones in the same notation, and the rest as "\u009b" or "\x9b". Ends of lines and tabs stay; a carriage
// return before the end of a line is left out. Text of a cluster can contain anything: an event must not be
// able to move the cursor, begin another line or reverse the rest of one.
func Visible(text string) string {
	if isPlain(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case r == '\n', r == '\t', !IsControl(r):
			b.WriteString(text[at : at+size])
		case r < ' ', r == 0x7f:
			b.WriteString("^" + string(r^0x40))
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		at += size
	}
	return b.String()
}

// Truncated returns text with at most so many bytes of it, in whole characters; "…" follows where some are left out.
func Truncated(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// VisibleLine returns text as Visible does, on one line.
func VisibleLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Visible(text))
}

// IsControl reports whether a character controls a terminal or the order of text instead of being shown:
// control characters, ends of lines and paragraphs, and invisible formatting, other than the joiners that
// words and emoji of some languages need.
func IsControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0, r == 0x200c, r == 0x200d:
		return false
	}
	return unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// isPlain reports whether text is nothing but printable ASCII on lines, as nearly all is.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
