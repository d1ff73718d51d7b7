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
	ascii bool

	mu    sync.Mutex
	lines []string // as set
	drawn []int    // the cells of each line on the terminal
	open  bool     // the last line above has not ended yet
	// echoOff and echoOn change the echo of typed keys; nil where it stays on.
	echoOff, echoOn func()
	muted           bool // it is off
}

// NewFooter returns the footer of a terminal. The function returns its present width in cells, or 0
// while it is unknown: then nothing is shown.
func NewFooter(w io.Writer, width func() int) *Footer { return &Footer{w: w, width: width} }

// WithoutEcho has the footer turn off the echo of typed keys while it has lines: what is echoed stays
// on the terminal, among them.
func (f *Footer) WithoutEcho(off, on func()) { f.echoOff, f.echoOn = off, on }

// InASCII makes the footer draw signs of this program in ASCII.
func (f *Footer) InASCII() *Footer {
	f.ascii = true
	return f
}

// KeepEcho turns the echo on again, for good: after a first signal the next one ends the program at once,
// and nothing would turn it on.
func (f *Footer) KeepEcho() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.muted {
		f.echoOn()
	}
	f.echoOff, f.echoOn, f.muted = nil, nil, false
}

// Width returns the cells of a line of the footer; 0 while they are unknown, and without a footer.
func (f *Footer) Width() int {
	if f == nil {
		return 0
	}
	return max(0, f.width()-1)
}

// Show replaces the lines; without any the footer disappears. Lines that are too long are cut, so
// they must be without colors.
func (f *Footer) Show(lines ...string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = lines
	f.muteKeys()
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

// muteKeys turns off the echo of typed keys while there are lines.
func (f *Footer) muteKeys() {
	mute := len(f.lines) > 0
	if f.echoOff == nil || mute == f.muted {
		return
	}
	f.muted = mute
	if mute {
		f.echoOff()
	} else {
		f.echoOn()
	}
}

// erase moves to the beginning of the first row of the footer, and clears the terminal from there on. In
// a terminal that has become narrower its lines have more rows than before.
func (f *Footer) erase(b *strings.Builder) {
	rows, width := 0, f.width()
	for _, cells := range f.drawn {
		rows++
		if width > 0 && cells > width {
			rows += (cells - 1) / width
		}
	}
	if rows > 0 {
		fmt.Fprintf(b, "\r\x1b[%dA\x1b[J", rows)
	}
	f.drawn = nil
}

// draw writes the lines, unless a line above has not ended: a question waits for its answer there.
func (f *Footer) draw(b *strings.Builder) {
	width := f.width()
	if f.open || width <= 0 {
		return
	}
	for _, line := range f.lines {
		text := CutAtWord(cleanLine(line), width-1)
		if f.ascii {
			text = ASCII(text)
		}
		b.WriteString(text + "\n")
		f.drawn = append(f.drawn, Cells(text))
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
