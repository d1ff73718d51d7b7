// Package panes divides a terminal into panes side by side, and joins what they show.
package panes

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The least widths of a terminal with two and with three panes.
const (
	Two   = 120
	Three = 180
)

// border is between two panes.
const border = " │ "

// Layout is the widths of the panes, without the borders; 0 for a pane that is not there.
type Layout struct{ List, Side, Third int }

// Of returns the layout of a terminal: a list, its detail from Two columns on, and a third pane
// from Three on.
func Of(width int) Layout {
	edge := ansi.StringWidth(border)
	switch {
	case width >= Three:
		room := width - 2*edge
		detail, third := room*3/10, room/4
		return Layout{List: room - detail - third, Side: detail, Third: third}
	case width >= Two:
		room := width - edge
		detail := room * 2 / 5
		return Layout{List: room - detail, Side: detail}
	default:
		return Layout{List: width}
	}
}

// Whole returns the width of the list with the place of the third pane.
func (l Layout) Whole() int {
	if l.Third == 0 {
		return l.List
	}
	return l.List + ansi.StringWidth(border) + l.Third
}

// Pane is the drawn lines of a pane, at most Width columns wide.
type Pane struct {
	Width int
	Lines []string
}

// Join returns height lines with the panes side by side. Paint draws the border.
func Join(height int, paint func(border string) string, all ...Pane) []string {
	edge := paint(border)
	lines := make([]string, height)
	for i := range lines {
		var b strings.Builder
		for n, p := range all {
			text := ""
			if i < len(p.Lines) {
				text = p.Lines[i]
			}
			b.WriteString(text)
			if n < len(all)-1 {
				b.WriteString(strings.Repeat(" ", max(0, p.Width-ansi.StringWidth(text))))
				b.WriteString(edge)
			}
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
