package tui

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
)

// heading returns the heading of a section.
func heading(text string) line { return styledLine(strong, text) }

// factWidth is the width of the names of facts.
const factWidth = 14

// fact returns a name and its value.
func fact(name, value string) line { return factIn(plain, name, value) }

func factIn(t tone, name, value string) line {
	return line{styled(faint, "  "+fit(name, factWidth)), styled(t, value)}
}

// wrapped returns a line in as many lines as it needs, continued below the start of its last
// piece.
func wrapped(l line, width int) []line {
	if len(l) == 0 || widthOf(l.text()) <= width {
		return []line{l}
	}
	head, last := l[:len(l)-1], l[len(l)-1]
	indent := widthOf(head.text()) + blanksBefore(last.text)
	if indent > width/2 { // no room beside the head: wrap everything
		head, last = nil, span{l.text(), last.tone}
		indent = min(4, width/4)
	}
	var lines []line
	text := strings.TrimLeft(last.text, " ")
	room := max(1, width-indent)
	for i, part := range cells.Words(text, room) {
		begin := line{{strings.Repeat(" ", indent), plain}}
		if i == 0 && head != nil {
			begin = append(slices.Clone(head), span{strings.Repeat(" ", blanksBefore(last.text)), plain})
		}
		lines = append(lines, append(begin, span{part, last.tone}))
	}
	return lines
}

// shortened returns at most so many lines. If there are more, the last one is too long, so that
// drawing it adds an ellipsis.
func shortened(lines []line, most int) []line {
	if len(lines) <= most {
		return lines
	}
	next := strings.TrimSpace(lines[most].text())
	lines = slices.Clone(lines[:most])
	last := slices.Clone(lines[most-1])
	last[len(last)-1].text += " " + next
	lines[most-1] = last
	return lines
}

// flowed returns pieces in as many lines as they need, without breaking a piece. A separator
// is between two pieces of a line, and lines after the first are indented.
func flowed(pieces []line, separator span, indent, width int) []line {
	var lines []line
	for _, piece := range pieces {
		n := len(lines)
		if n > 0 && widthOf(lines[n-1].text())+widthOf(separator.text)+widthOf(piece.text()) <= width {
			lines[n-1] = append(append(lines[n-1], separator), piece...)
			continue
		}
		if n > 0 {
			piece = append(line{{strings.Repeat(" ", indent), plain}}, piece...)
		}
		lines = append(lines, slices.Clone(piece))
	}
	return lines
}

func blanksBefore(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// commandLines returns commands to copy, under a heading; nil for none.
func commandLines(commands ...string) []line {
	if len(commands) == 0 {
		return nil
	}
	lines := []line{styledLine(commandTitle, "Commands")}
	for _, c := range commands {
		lines = append(lines, styledLine(command, "  "+c))
	}
	return lines
}

// clean, widthOf, cut and fit are those of cells: they are in every line of a view.
func clean(text string) string { return cells.Clean(text) }

func widthOf(text string) int { return cells.Width(text) }

func cut(text string, width int) string { return cells.Cut(text, width) }

func fit(text string, width int) string { return cells.Fit(text, width) }
