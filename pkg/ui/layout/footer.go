package layout

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Footer are lines that stay at the bottom of a terminal, below all that is written to its pages.
// A nil one shows nothing. It is safe for concurrent use.
type Footer struct {
	w     io.Writer
	width func() int

	mu    sync.Mutex
	lines []string // as set
	drawn int      // how many are on the terminal
	open  bool     // the last line above has not ended yet
}

// NewFooter returns the footer of a terminal. The function returns its present width in cells, or 0
// while it is unknown: then nothing is shown.
func NewFooter(w io.Writer, width func() int) *Footer { return &Footer{w: w, width: width} }

// Show replaces the lines; without any the footer disappears. Lines that are too long are cut, so
// they must be without colors.
func (f *Footer) Show(lines ...string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = lines
	var b strings.Builder
	f.erase(&b)
	f.draw(&b)
	_, _ = io.WriteString(f.w, b.String()) // a terminal that was closed ends the command elsewhere
}

// Shown reports whether the footer has lines.
func (f *Footer) Shown() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.lines) > 0
}

// write writes text to a stream of the same terminal, above the footer.
func (f *Footer) write(w io.Writer, text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var before, after strings.Builder
	f.erase(&before)
	f.open = !strings.HasSuffix(text, "\n")
	f.draw(&after)
	_, err := io.WriteString(f.w, before.String())
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		_, err = io.WriteString(f.w, after.String())
	}
	return err
}

// erase moves to the first line of the footer, and clears the terminal from there on.
func (f *Footer) erase(b *strings.Builder) {
	if f.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA\x1b[J", f.drawn)
	}
	f.drawn = 0
}

// draw writes the lines, unless a line above has not ended: a question waits for its answer there.
func (f *Footer) draw(b *strings.Builder) {
	width := f.width()
	if f.open || width <= 0 {
		return
	}
	for _, line := range f.lines {
		b.WriteString(Cut(cleanLine(line), width-1) + "\n")
		f.drawn++
	}
}

// Cut shortens a line without colors to a number of cells.
func Cut(line string, cells int) string {
	if Cells(line) <= cells {
		return line
	}
	const mark = "…"
	kept := ""
	for _, r := range line {
		if Cells(kept+string(r)+mark) > cells {
			break
		}
		kept += string(r)
	}
	return strings.TrimRight(kept, " ") + mark
}
