package tui

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// The text of views, by short names: it is in every line of them.
type (
	tone  = paint.Tone
	span  = paint.Span
	line  = paint.Line
	theme = paint.Theme
)

const (
	plain  = paint.Plain
	faint  = paint.Faint
	strong = paint.Strong
	good   = paint.Good
	busy   = paint.Busy
	unsure = paint.Unsure
	warn   = paint.Warn
	bad    = paint.Bad

	markGood    = list.MarkGood
	markWarn    = list.MarkWarn
	markBad     = list.MarkBad
	markUnknown = list.MarkUnknown
	markChosen  = paint.MarkChosen
)

func styled(t tone, text string) span { return paint.Styled(t, text) }

func styledLine(t tone, text string) line { return paint.StyledLine(t, text) }

func faintLines(texts []string) []line {
	var lines []line
	for _, text := range texts {
		lines = append(lines, styledLine(faint, text))
	}
	return lines
}

func heading(text string) line { return paint.Heading(text) }

func fact(name, value string) line { return paint.Fact(name, value) }

func factIn(t tone, name, value string) line { return paint.FactIn(t, name, value) }

func wrapped(l line, width int) []line { return paint.Wrapped(l, width) }

func flowed(pieces []line, separator span, indent, width int) []line {
	return paint.Flowed(pieces, separator, indent, width)
}

func commandLines(commands ...string) []line { return paint.CommandLines(commands...) }

func widthOf(text string) int { return cells.Width(text) }

func cut(text string, width int) string { return cells.Cut(text, width) }

func fit(text string, width int) string { return cells.Fit(text, width) }

// toneOfCount returns the severity of a number of problems.
func toneOfCount(n int) tone {
	if n > 0 {
		return warn
	}
	return good
}
