package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// tone is the meaning of a piece of text. It is shown by a color, but never only by a color: a
// symbol or a word has the same meaning.
type tone int

const (
	plain tone = iota
	faint
	strong
	good
	unsure // unknown
	warn
	bad
	command      // a line to copy, which needs its whole width
	commandTitle // the heading of such lines
	tones        // the number of tones
)

// The symbols that go with tones.
const (
	markGood    = "✓"
	markWarn    = "!"
	markBad     = "✗"
	markUnknown = phrase.UnknownCell
	markChosen  = "▸"
)

func (t tone) mark() string {
	switch t {
	case good:
		return markGood
	case unsure:
		return markUnknown
	case warn:
		return markWarn
	case bad:
		return markBad
	default:
		return " "
	}
}

// theme applies colors. They are from the terminal's own palette, which users have chosen to be
// readable on their background, light or dark; the terminal is not queried, since it might not
// answer.
type theme struct {
	ordinary [tones]lipgloss.Style
	// chosen is the style of the selected row, one for all its cells.
	chosen lipgloss.Style
	color  bool
}

func newTheme(color bool) theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(true)
	r.SetColorProfile(termenv.Ascii)
	if color {
		r.SetColorProfile(termenv.ANSI)
	}
	base := r.NewStyle().Inline(true)
	return theme{color: color, chosen: base.Reverse(true), ordinary: [tones]lipgloss.Style{
		plain: base, faint: base.Faint(true), strong: base.Bold(true), good: base.Foreground(lipgloss.Color("2")),
		unsure: base.Faint(true),
		warn:   base.Foreground(lipgloss.Color("3")), bad: base.Foreground(lipgloss.Color("1")).Bold(true),
		command: base, commandTitle: base.Bold(true),
	}}
}

// span is a piece of a line.
type span struct {
	text string
	tone tone
}

// styled returns a span of text that may come from a cluster.
func styled(t tone, text string) span { return span{clean(text), t} }

// line is a line before it is fitted to the width.
type line []span

// styledLine returns a line of one tone.
func styledLine(t tone, text string) line { return line{styled(t, text)} }

func (l line) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

func (t theme) paint(s span) string {
	if !t.color || s.text == "" || s.tone == plain || s.tone == command {
		return s.text
	}
	return t.ordinary[s.tone].Render(s.text)
}

// draw returns a line in at most width columns.
func (t theme) draw(l line, width int) string {
	var b strings.Builder
	for _, s := range l {
		if width <= 0 {
			break
		}
		text := cut(s.text, width)
		width -= widthOf(text)
		b.WriteString(t.paint(span{text, s.tone}))
		if text != s.text {
			break
		}
	}
	return b.String()
}
