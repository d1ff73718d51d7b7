// Package paint is text with a meaning, and the colors that show it.
package paint

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
)

// Tone is the meaning of a piece of text.
type Tone = list.Tone

// The tones: those of cells, and two of the dashboard's lines.
const (
	Plain  = list.Plain
	Faint  = list.Faint
	Strong = list.Strong
	Good   = list.Good
	Busy   = list.Busy
	Unsure = list.Unsure
	Warn   = list.Warn
	Bad    = list.Bad

	Command      = list.Tones     // a line to copy, which needs its whole width
	CommandTitle = list.Tones + 1 // the heading of such lines
	Found        = list.Tones + 2 // what a search found
	badges       = list.Tones + 3 // the first of those that Badge returns
	tones        = badges + list.Tones
)

// MarkChosen is the symbol of the selected row, which no tone has.
const MarkChosen = "❯"

// Theme applies colors. They are from the terminal's own palette, which users have chosen to be
// readable on their background, light or dark; the terminal is not queried, since it might not
// answer.
type Theme struct {
	ordinary [tones]lipgloss.Style
	// chosen is the style of the selected row, one for all its cells.
	chosen lipgloss.Style
	color  bool
}

// New returns the theme of a terminal with or without colors.
func New(color bool) Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(true)
	r.SetColorProfile(termenv.Ascii)
	if color {
		r.SetColorProfile(termenv.ANSI)
	}
	base := r.NewStyle().Inline(true)
	t := Theme{color: color, chosen: base.Reverse(true), ordinary: [tones]lipgloss.Style{
		Plain: base, Faint: base.Faint(true), Strong: base.Bold(true), Good: base.Foreground(lipgloss.Color("2")),
		Busy:   base.Foreground(lipgloss.Color("6")),
		Unsure: base.Faint(true),
		Warn:   base.Foreground(lipgloss.Color("3")), Bad: base.Foreground(lipgloss.Color("1")).Bold(true),
		Command: base, CommandTitle: base.Bold(true), Found: base.Reverse(true),
	}}
	for i := range list.Tones {
		t.ordinary[badges+i] = t.ordinary[i]
	}
	for of, color := range map[Tone]string{Good: "2", Busy: "6", Warn: "3", Bad: "1"} {
		t.ordinary[badges+of] = base.Foreground(lipgloss.Color("0")).Background(lipgloss.Color(color))
	}
	return t
}

// Badge returns the tone of a mark in black on the color of a severity: yellow and green are not
// legible on a light background themselves.
func Badge(of Tone) Tone { return badges + of }

// Span is a piece of a line.
type Span struct {
	Text string
	Tone Tone
}

// Styled returns a span of text that may come from a cluster.
func Styled(t Tone, text string) Span { return Span{cells.Clean(text), t} }

// Line is a line before it is fitted to the width.
type Line []Span

// StyledLine returns a line of one tone.
func StyledLine(t Tone, text string) Line { return Line{Styled(t, text)} }

// Text returns the line without its tones.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Legible returns a line without the colors that a light background leaves illegible: problems are bold.
func Legible(l Line) Line {
	l = slices.Clone(l)
	for i, s := range l {
		switch s.Tone {
		case Warn:
			l[i].Tone = Strong
		case Good, Busy:
			l[i].Tone = Plain
		default: // legible
		}
	}
	return l
}

// Chosen paints the selected row, as wide as the list; without colors it is as it is.
func (t Theme) Chosen(text string, width int) string {
	if !t.color {
		return strings.TrimRight(text, " ")
	}
	return t.chosen.Render(cells.Fit(text, width))
}

// Paint returns a span in its color.
func (t Theme) Paint(s Span) string {
	if !t.color || s.Text == "" || s.Tone == Plain || s.Tone == Command {
		return s.Text
	}
	return t.ordinary[s.Tone].Render(s.Text)
}

// Draw returns a line in at most width columns.
func (t Theme) Draw(l Line, width int) string {
	var b strings.Builder
	for _, s := range l {
		if width <= 0 {
			break
		}
		text := cells.Cut(s.Text, width)
		width -= cells.Width(text)
		b.WriteString(t.Paint(Span{text, s.Tone}))
		if text != s.Text {
			break
		}
	}
	return b.String()
}

// Heading returns the heading of a section.
func Heading(text string) Line { return StyledLine(Strong, text) }

// factWidth is the width of the names of facts.
const factWidth = 14

// Fact returns a name and its value.
func Fact(name, value string) Line { return FactIn(Plain, name, value) }

// FactIn returns a name and its value in a tone.
func FactIn(t Tone, name, value string) Line {
	return Line{Styled(Faint, "  "+cells.Fit(name, factWidth)), Styled(t, value)}
}

// Wrapped returns a line in as many lines as it needs, continued below the start of its last
// piece.
func Wrapped(l Line, width int) []Line {
	if len(l) == 0 || cells.Width(l.Text()) <= width {
		return []Line{l}
	}
	head, last := l[:len(l)-1], l[len(l)-1]
	if last.Tone == Command {
		return brokenCommand(head, last, width)
	}
	indent := cells.Width(head.Text()) + blanksBefore(last.Text)
	if indent > width/2 { // no room beside the head: wrap everything
		head, last = nil, Span{l.Text(), last.Tone}
		indent = min(4, width/4)
	}
	var lines []Line
	text := strings.TrimLeft(last.Text, " ")
	room := max(1, width-indent)
	for i, part := range cells.Words(text, room) {
		begin := Line{{strings.Repeat(" ", indent), Plain}}
		if i == 0 && head != nil {
			begin = append(slices.Clone(head), Span{strings.Repeat(" ", blanksBefore(last.Text)), Plain})
		}
		lines = append(lines, append(begin, Span{part, last.Tone}))
	}
	return lines
}

// brokenCommand returns a command after its head as lines that a shell reads as that command.
func brokenCommand(head Line, command Span, width int) []Line {
	blanks := strings.Repeat(" ", blanksBefore(command.Text))
	label := head.Text() + blanks
	var lines []Line
	for i, text := range layout.Command(label, strings.TrimLeft(command.Text, " "), width) {
		l := Line{{text, Command}}
		if rest, first := strings.CutPrefix(text, label); i == 0 && first {
			l = append(slices.Clone(head), Span{blanks + rest, Command})
		}
		lines = append(lines, l)
	}
	return lines
}

// Shortened returns at most so many lines. If there are more, the last one ends with an ellipsis after a whole word.
func Shortened(lines []Line, most, width int) []Line {
	if len(lines) <= most {
		return lines
	}
	lines = slices.Clone(lines[:most])
	lines[most-1] = AtWord(append(slices.Clone(lines[most-1]), Span{" …", Plain}), width)
	return lines
}

// AtWord returns a line in at most width columns. One that has more ends with an ellipsis after a whole word: half a number
// would be another one.
func AtWord(l Line, width int) Line {
	text := l.Text()
	if cells.Width(text) <= width {
		return l
	}
	var kept Line
	left := strings.TrimSuffix(layout.CutAtWord(text, width), "…")
	for _, s := range l {
		s.Text = s.Text[:min(len(s.Text), len(left))]
		if s.Text == "" {
			break
		}
		left, kept = left[len(s.Text):], append(kept, s)
	}
	if len(kept) == 0 {
		return Line{{"…", Plain}}
	}
	kept[len(kept)-1].Text += "…"
	return kept
}

// Clause is a part of a line that is whole or left out.
type Clause struct {
	Line Line
	// Drop orders what is left out where there is no room: the highest goes first, and one with 0 stays.
	Drop int
}

// Fitted returns clauses in at most so many lines: the least important are left out, and if what stays needs more lines, these end
// with an ellipsis after a whole word.
func Fitted(clauses []Clause, separator Span, indent, width, most int) []Line {
	flow := func(kept []Clause) []Line {
		var pieces []Line
		for _, c := range kept {
			pieces = append(pieces, c.Line)
		}
		return Flowed(pieces, separator, indent, width)
	}
	kept := layout.Kept(clauses, func(c Clause) int { return c.Drop }, func(kept []Clause) bool { return len(flow(kept)) <= most })
	return Shortened(flow(kept), most, width)
}

// Flowed returns pieces in as many lines as they need. A piece is only broken, between words, where it is longer than a line. A
// separator is between two pieces of a line, and lines after the first are indented.
func Flowed(pieces []Line, separator Span, indent, width int) []Line {
	var lines []Line
	for _, piece := range pieces {
		n := len(lines)
		if n > 0 && cells.Width(lines[n-1].Text())+cells.Width(separator.Text)+cells.Width(piece.Text()) <= width {
			lines[n-1] = append(append(lines[n-1], separator), piece...)
			continue
		}
		if n > 0 {
			piece = append(Line{{strings.Repeat(" ", indent), Plain}}, piece...)
		}
		lines = append(lines, broken(piece, indent, width)...)
	}
	return lines
}

// broken returns a line in lines of at most width columns, each of whose words keeps its tone. It is broken between words, and
// within those that are longer than a line.
func broken(l Line, indent, width int) []Line {
	if cells.Width(l.Text()) <= width {
		return []Line{slices.Clone(l)}
	}
	lines, used := []Line{nil}, 0
	for _, s := range l {
		for word := range strings.SplitAfterSeq(s.Text, " ") {
			if need := cells.Width(strings.TrimRight(word, " ")); used > indent && used+need > width {
				lines, used = append(lines, Line{{strings.Repeat(" ", indent), Plain}}), indent
			}
			lines[len(lines)-1] = lines[len(lines)-1].with(Span{word, s.Tone})
			used += cells.Width(word)
		}
	}
	for i, l := range lines {
		l[len(l)-1].Text = strings.TrimRight(l[len(l)-1].Text, " ")
		lines[i] = AtWord(l, width)
	}
	return lines
}

// with returns a line with a span at its end, which is one with that before if they have the same tone.
func (l Line) with(s Span) Line {
	if n := len(l); n > 0 && l[n-1].Tone == s.Tone {
		l[n-1].Text += s.Text
		return l
	}
	return append(l, s)
}

func blanksBefore(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// CommandLines returns commands to copy, under a heading; nil for none.
func CommandLines(commands ...string) []Line {
	if len(commands) == 0 {
		return nil
	}
	lines := []Line{StyledLine(CommandTitle, "Commands")}
	for _, c := range commands {
		lines = append(lines, StyledLine(Command, "  "+c))
	}
	return lines
}
