package layout

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Narrowest is the least width, in cells, that output is laid out for. A narrower terminal breaks
// the lines itself.
const Narrowest = 60

// Width returns the width, in cells, that text written to w has to fit; 0 where nothing is cut or
// wrapped. Besides pages, writers before a page have one if they have its method Width.
func Width(w io.Writer) int {
	if p, ok := w.(interface{ Width() int }); ok {
		return p.Width()
	}
	return 0
}

// Raw returns the writer below a page, for what must not be wrapped: documents, and output of other
// programs. It returns other writers as they are.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Page); ok {
		return p.Raw()
	}
	return w
}

// Cells returns the width of a text on a terminal; escape sequences have none.
func Cells(text string) int {
	n := 0
	if isASCII(text) {
		return len(text)
	}
	for text != "" {
		size, wide := glyph(text)
		n += wide
		text = text[size:]
	}
	return n
}

// isASCII reports whether a text is nothing but printable ASCII, as nearly all is.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// glyph returns the bytes and the cells of what a text begins with: a character or an escape sequence.
func glyph(text string) (size, wide int) {
	if strings.HasPrefix(text, "\x1b[") {
		end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return len(text), 0
		}
		return 2 + end + 1, 0
	}
	r, size := utf8.DecodeRuneInString(text)
	if r >= ' ' && r < 0x7f {
		return size, 1
	}
	return size, twwidth.Width(text[:size])
}
