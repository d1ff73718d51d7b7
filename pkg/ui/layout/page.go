package layout

import (
	"io"
	"strings"
	"sync"
)

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
