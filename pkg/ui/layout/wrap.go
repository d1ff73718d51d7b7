package layout

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Wrap returns a text as lines of at most width cells, broken between words. Lines after the first
// begin with hang blanks. A word that is wider than a line is broken after a comma, else after
// another separator, else anywhere; nothing is left out. Without a width it returns the text.
func Wrap(text string, width, hang int) []string { return wrapAfter(text, 0, width, hang) }

// Reflow returns paragraphs that were written for another width with lines of at most width cells.
// Lines that are indented, and paragraphs that fit, stay as they are.
func Reflow(text string, width int) string {
	var all, paragraph []string
	end := func() {
		if widest(paragraph) > width {
			paragraph = Wrap(strings.Join(paragraph, " "), width, 0)
		}
		all, paragraph = append(all, paragraph...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || indentOf(line) > 0 {
			end()
			all = append(all, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(all, "\n")
}

func widest(lines []string) int {
	n := 0
	for _, line := range lines {
		n = max(n, Cells(line))
	}
	return n
}

// wrapAfter wraps a text that continues a line of which some cells are used.
func wrapAfter(text string, used, width, hang int) []string {
	if width <= 0 || used+Cells(text) <= width {
		return []string{text}
	}
	l := lines{width: width, hang: min(hang, width/2), column: used, begun: used > 0}
	for text != "" {
		word := strings.TrimLeft(text, " ")
		gap := text[:len(text)-len(word)]
		end := strings.IndexByte(word, ' ')
		if end < 0 {
			end = len(word)
		}
		l.add(gap, word[:end])
		text = word[end:]
	}
	return append(l.done, l.line.String())
}

// lines are filled with words.
type lines struct {
	width, hang, column int
	begun               bool // the line has a word
	line                strings.Builder
	done                []string
}

func (l *lines) add(gap, word string) {
	if !l.begun && len(l.done) == 0 { // the indentation of the text itself
		gap = gap[:min(len(gap), l.width/2)]
	}
	if l.column+len(gap)+Cells(word) > l.width && l.begun {
		l.next()
		gap = ""
	}
	l.put(gap)
	for l.column+Cells(word) > l.width {
		size := cut(word, l.width-l.column)
		l.put(word[:size])
		word = word[size:]
		l.next()
	}
	l.put(word)
	l.begun = l.begun || word != ""
}

func (l *lines) put(text string) {
	l.line.WriteString(text)
	l.column += Cells(text)
}

func (l *lines) next() {
	l.done = append(l.done, strings.TrimRight(l.line.String(), " "))
	l.line.Reset()
	l.column, l.begun = 0, false
	l.put(strings.Repeat(" ", l.hang))
}

// cut returns the bytes of the longest good beginning of a word that fits into room cells; at
// least one character.
func cut(word string, room int) int {
	column, comma, separator, fits := 0, 0, 0, 0
	for at := 0; at < len(word); {
		size, wide := glyph(word[at:])
		if column+wide > room && fits > 0 {
			break
		}
		column, at = column+wide, at+size
		fits = at
		switch {
		case strings.ContainsAny(word[at-size:at], ",;"):
			comma = at
		case strings.ContainsAny(word[at-size:at], "/:-._=@?&(") && column*2 >= room:
			separator = at
		}
	}
	switch {
	case comma > 0:
		return comma
	case separator > 0:
		return separator
	}
	return fits
}

// Page is a terminal of a known width. Whatever is written to it fits: lines that are too long are
// wrapped at words, and those that begin with a command are broken such that they can be copied.
// It is safe for concurrent use.
type Page struct {
	w      io.Writer
	width  func() int
	footer *Footer // nil for none
	ascii  bool

	mu     sync.Mutex
	column int // cells of the line that has not ended yet
}

// NewPage returns a page. The function returns the terminal's present width in cells, or 0 while it
// is unknown: then nothing is wrapped.
func NewPage(w io.Writer, width func() int) *Page { return &Page{w: Guarded(w), width: width} }

// Above makes the page write above a footer of the same terminal.
func (p *Page) Above(f *Footer) *Page {
	p.footer = f
	return p
}

// InASCII makes the page write signs of this program in ASCII.
func (p *Page) InASCII() *Page {
	p.ascii = true
	return p
}

// Width returns the width that text has to fit, in cells: that of the terminal, and at least
// Narrowest; 0 while it is unknown.
func (p *Page) Width() int {
	width := p.width()
	if width <= 0 {
		return 0
	}
	return max(width, Narrowest)
}

// Raw returns the guard of the terminal, which wraps nothing.
func (p *Page) Raw() io.Writer { return p.w }

// Write wraps each line that is too long. It returns the length of text when all of it was written.
func (p *Page) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	width := p.Width()
	if width == 0 {
		if err := p.put(string(text)); err != nil {
			return 0, err
		}
		return len(text), nil
	}
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(Clean(string(text)), "\t", "    ")) {
		body, ended := strings.CutSuffix(line, "\n")
		wrapped := p.fit(body, width)
		b.WriteString(strings.Join(wrapped, "\n"))
		if len(wrapped) > 1 {
			p.column = 0
		}
		p.column += Cells(wrapped[len(wrapped)-1])
		if ended {
			b.WriteByte('\n')
			p.column = 0
		}
	}
	if err := p.put(b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (p *Page) put(text string) error {
	if p.ascii {
		text = ASCII(text)
	}
	if p.footer != nil && text != "" {
		return p.footer.write(p.w, text)
	}
	_, err := io.WriteString(p.w, text)
	return err
}

func (p *Page) fit(line string, width int) []string {
	indent := indentOf(line)
	if p.column == 0 && IsCommand(line[indent:]) {
		return Command(line[:indent], line[indent:], width)
	}
	if comment, ok := strings.CutPrefix(line[indent:], "# "); ok && p.column == 0 { // a shell reads all its lines as comments
		return commented(line[:indent]+"# ", comment, width)
	}
	return wrapAfter(line, p.column, width, indent+2)
}

func commented(prefix, comment string, width int) []string {
	all := Wrap(comment, width-len(prefix), 0)
	for i := range all {
		all[i] = prefix + all[i]
	}
	return all
}

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
