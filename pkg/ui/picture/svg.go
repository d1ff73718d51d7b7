package picture

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"
)

// The size of one character, and of the rim around all of them, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	rim        = 12
)

// The colors of a terminal that sets none, and the font of all pictures.
const (
	paper = "#1c1f26"
	ink   = "#d8dee9"
	font  = "DejaVu Sans Mono, Menlo, Consolas, monospace"
)

// DrawSVG draws a screen.
func DrawSVG(w io.Writer, screen string) error {
	var body strings.Builder
	columns, rows := 0, 0
	for text := range strings.Lines(screen) {
		runs := runsOf(strings.TrimRight(text, "\r\n"))
		columns = max(columns, lengthOf(runs))
		body.WriteString(lineOf(runs, rows))
		rows++
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="%s" font-size="14" xml:space="preserve">
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
%s</svg>
`, float64(columns)*cellWidth+2*rim, rows*cellHeight+2*rim, font, paper, body.String())
	return err
}

func lengthOf(runs []run) (columns int) {
	for _, r := range runs {
		columns += utf8.RuneCountInString(r.text)
	}
	return columns
}

// lineOf draws one line.
func lineOf(runs []run, number int) string {
	var back, front strings.Builder
	y, column := rim+number*cellHeight, 0
	for _, r := range runs {
		length := utf8.RuneCountInString(r.text)
		x := rim + float64(column)*cellWidth
		foreground, background := r.colors()
		if background != "" {
			fmt.Fprintf(&back, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, float64(length)*cellWidth, cellHeight, background)
		}
		if strings.TrimSpace(r.text) != "" {
			fmt.Fprintf(&front, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"%s>%s</text>\n",
				x, y+cellHeight-4, float64(length)*cellWidth, foreground, r.weight(), html.EscapeString(r.text))
		}
		column += length
	}
	return back.String() + front.String()
}

func (r run) colors() (foreground, background string) {
	foreground, background = r.foreground, r.background
	if foreground == "" {
		foreground = ink
	}
	if r.reversed {
		if background == "" {
			background = paper
		}
		foreground, background = background, foreground
	}
	return foreground, background
}

func (r run) weight() string {
	switch {
	case r.bold:
		return ` font-weight="bold"`
	case r.faint:
		return ` opacity="0.6"`
	default:
		return ""
	}
}
