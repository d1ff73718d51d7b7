// Package picture draws screens of a terminal, with their colors, as files that are shown elsewhere: SVG, HTML and asciicast.
package picture

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Shot is a screen at a moment.
type Shot struct {
	At     time.Time
	Screen string
}

// longestPause is the longest pause between two shots of a cast.
const longestPause = 5 * time.Second

// DrawCast writes shots as an asciicast of version 2, which asciinema plays and converts.
// Source: docs.asciinema.org/manual/asciicast/v2.
func DrawCast(w io.Writer, shots []Shot, width, height int) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(map[string]any{"version": 2, "width": width, "height": height, "env": map[string]string{"TERM": "xterm-256color"}}); err != nil {
		return err
	}
	var at time.Duration
	var before time.Time
	for _, s := range shots {
		if !before.IsZero() {
			at += min(longestPause, max(0, s.At.Sub(before)))
		}
		before = s.At
		screen := "\x1b[2J\x1b[H" + strings.ReplaceAll(strings.TrimRight(s.Screen, "\n"), "\n", "\r\n")
		if err := out.Encode([]any{at.Seconds(), "o", screen}); err != nil {
			return err
		}
	}
	return nil
}

// Ground is the colors of a terminal: those that it has without any, and the first 16 of its palette.
type Ground struct {
	paper, ink string
	first      [16]string
}

// Dark is a terminal with light text on a dark background.
var Dark = Ground{"#1c1f26", "#d8dee9", [16]string{
	"#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
	"#6b7280", "#f07178", "#a9dc76", "#ffd866", "#78b9f2", "#d7a0f0", "#7fdbca", "#ffffff",
}}

// Light is a terminal with dark text on a light background, with the palette of Tango, which many have as the usual one.
var Light = Ground{"#ffffff", "#2e3436", [16]string{
	"#2e3436", "#cc0000", "#4e9a06", "#c4a000", "#3465a4", "#75507b", "#06989a", "#d3d7cf",
	"#555753", "#ef2929", "#8ae234", "#fce94f", "#729fcf", "#ad7fa8", "#34e2e2", "#eeeeec",
}}

// DrawHTML writes shots as a page without any other file, in which a slider and the arrow keys step through time.
func (g Ground) DrawHTML(w io.Writer, title string, shots []Shot) error {
	var all strings.Builder
	for i, s := range shots {
		hidden := " hidden"
		if i == len(shots)-1 {
			hidden = ""
		}
		fmt.Fprintf(&all, "<pre%s>%s</pre>\n", hidden, g.spansOf(s.Screen))
	}
	last := max(0, len(shots)-1)
	_, err := fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>%s</title>
<style>
body { background: %s; color: %s; font: 14px/1.3 %s }
input { width: 100%% }
</style>
<input type="range" aria-label="time" min="0" max="%d" value="%d">
%s<script>
const shots = document.querySelectorAll("pre")
document.querySelector("input").addEventListener("input", e => shots.forEach((s, i) => { s.hidden = i != e.target.value }))
</script>
</html>
`, html.EscapeString(title), g.paper, g.ink, font, last, last, all.String())
	return err
}

// spansOf returns a screen as HTML.
func (g Ground) spansOf(screen string) string {
	var b strings.Builder
	for text := range strings.Lines(screen) {
		for _, r := range g.runsOf(strings.TrimRight(text, "\r\n")) {
			if css := g.css(r); css != "" {
				fmt.Fprintf(&b, `<span style="%s">%s</span>`, css, html.EscapeString(r.text))
			} else {
				b.WriteString(html.EscapeString(r.text))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (g Ground) css(r run) string {
	var all []string
	foreground, background := g.colors(r)
	if foreground != g.ink {
		all = append(all, "color:"+foreground)
	}
	if background != "" {
		all = append(all, "background:"+background)
	}
	switch {
	case r.bold:
		all = append(all, "font-weight:bold")
	case r.faint:
		all = append(all, "opacity:0.6")
	}
	return strings.Join(all, ";")
}

// run is text of one style.
type run struct {
	style
	text string
}

// style is how text looks.
type style struct {
	foreground, background string // empty for the terminal's own
	bold, faint, reversed  bool
}

// runsOf takes a line apart where its look changes.
func (g Ground) runsOf(line string) []run {
	var runs []run
	now := style{}
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			runs = append(runs, run{now, strings.Map(visible, text)})
		}
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			break
		}
		if rest[end] == 'm' {
			now = g.after(now, rest[:end])
		}
		line = rest[end+1:]
	}
	return runs
}

// visible replaces a character that controls a terminal: no format of a picture has them.
func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

// after is the look once a sequence of codes was read.
func (g Ground) after(l style, codes string) style {
	numbers := strings.Split(codes, ";")
	for i := 0; i < len(numbers); i++ {
		n, _ := strconv.Atoi(numbers[i]) // nothing stands for 0
		switch {
		case n == 0:
			l = style{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 7:
			l.reversed = true
		case n == 22:
			l.bold, l.faint = false, false
		case n == 27:
			l.reversed = false
		case n == 39:
			l.foreground = ""
		case n == 49:
			l.background = ""
		case n >= 30 && n <= 37:
			l.foreground = g.palette(n - 30)
		case n >= 90 && n <= 97:
			l.foreground = g.palette(n - 90 + 8)
		case n >= 40 && n <= 47:
			l.background = g.palette(n - 40)
		case n >= 100 && n <= 107:
			l.background = g.palette(n - 100 + 8)
		case (n == 38 || n == 48) && i+2 < len(numbers) && numbers[i+1] == "5":
			index, _ := strconv.Atoi(numbers[i+2])
			l = l.colored(n, g.palette(index))
			i += 2
		case (n == 38 || n == 48) && i+4 < len(numbers) && numbers[i+1] == "2":
			l = l.colored(n, "rgb("+strings.Join(numbers[i+2:i+5], ",")+")")
			i += 4
		}
	}
	return l
}

func (l style) colored(n int, color string) style {
	if n == 38 {
		l.foreground = color
	} else {
		l.background = color
	}
	return l
}

// palette is one of the 256 colors of a terminal.
func (g Ground) palette(n int) string {
	switch {
	case n < len(g.first):
		return g.first[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("rgb(%d,%d,%d)", grey, grey, grey)
	}
	level := func(i int) int { return []int{0, 95, 135, 175, 215, 255}[i] }
	n -= 16
	return fmt.Sprintf("rgb(%d,%d,%d)", level(n/36), level(n/6%6), level(n%6))
}

// The size of one character, and of the rim around all of them, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	rim        = 12
)

// font is that of all pictures.
const font = "DejaVu Sans Mono, Menlo, Consolas, monospace"

// DrawSVG draws a screen.
func (g Ground) DrawSVG(w io.Writer, screen string) error {
	var body strings.Builder
	columns, rows := 0, 0
	for text := range strings.Lines(screen) {
		runs := g.runsOf(strings.TrimRight(text, "\r\n"))
		columns = max(columns, lengthOf(runs))
		body.WriteString(g.lineOf(runs, rows))
		rows++
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="%s" font-size="14" xml:space="preserve">
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
%s</svg>
`, float64(columns)*cellWidth+2*rim, rows*cellHeight+2*rim, font, g.paper, body.String())
	return err
}

func lengthOf(runs []run) (columns int) {
	for _, r := range runs {
		columns += utf8.RuneCountInString(r.text)
	}
	return columns
}

// lineOf draws one line.
func (g Ground) lineOf(runs []run, number int) string {
	var back, front strings.Builder
	y, column := rim+number*cellHeight, 0
	for _, r := range runs {
		length := utf8.RuneCountInString(r.text)
		x := rim + float64(column)*cellWidth
		foreground, background := g.colors(r)
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

func (g Ground) colors(r run) (foreground, background string) {
	foreground, background = r.foreground, r.background
	if foreground == "" {
		foreground = g.ink
	}
	if r.reversed {
		if background == "" {
			background = g.paper
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
