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

// Pane is the drawn lines of a pane, at most Width columns wide, below its title.
type Pane struct {
	Title string
	Width int
	Lines []string
}

// TitleLines is the number of lines of titles.
const TitleLines = 1

// Join returns height lines with the panes side by side, the first of them with their titles; that of the pane that keys
// apply to, which is the first, is a heavy line. Paint draws the borders, and focus that title.
func Join(height int, paint, focus func(text string) string, all ...Pane) []string {
	edge := paint(border)
	lines := make([]string, height)
	lines[0] = titles(paint, focus, all)
	for i := range lines[TitleLines:] {
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
		lines[TitleLines+i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// titles returns the line above the panes.
func titles(paint, focus func(text string) string, all []Pane) string {
	var b strings.Builder
	for n, p := range all {
		edge, draw := "─", paint
		if n == 0 {
			edge, draw = "━", focus
		}
		title := ansi.Truncate(edge+" "+p.Title+" ", p.Width, "…")
		b.WriteString(draw(title + strings.Repeat(edge, p.Width-ansi.StringWidth(title))))
		if n < len(all)-1 {
			b.WriteString(paint("─┬─"))
		}
	}
	return b.String()
}
