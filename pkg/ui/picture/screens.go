package picture

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"time"
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

// DrawHTML writes shots as a page without any other file, in which a slider and the arrow keys step through time.
func DrawHTML(w io.Writer, title string, shots []Shot) error {
	var all strings.Builder
	for i, s := range shots {
		hidden := " hidden"
		if i == len(shots)-1 {
			hidden = ""
		}
		fmt.Fprintf(&all, "<pre%s>%s</pre>\n", hidden, spansOf(s.Screen))
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
`, html.EscapeString(title), paper, ink, font, last, last, all.String())
	return err
}

// spansOf returns a screen as HTML.
func spansOf(screen string) string {
	var b strings.Builder
	for text := range strings.Lines(screen) {
		for _, r := range runsOf(strings.TrimRight(text, "\r\n")) {
			if css := r.css(); css != "" {
				fmt.Fprintf(&b, `<span style="%s">%s</span>`, css, html.EscapeString(r.text))
			} else {
				b.WriteString(html.EscapeString(r.text))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r run) css() string {
	var all []string
	foreground, background := r.colors()
	if foreground != ink {
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
