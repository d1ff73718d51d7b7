package layout_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// screen is what a terminal shows of what was written to it, as far as a footer uses one.
func screen(text string) []string {
	rows := []string{""}
	for text != "" {
		var up int
		switch {
		case strings.HasPrefix(text, "\x1b["):
			if n, err := fmt.Sscanf(text, "\x1b[%dA", &up); n == 1 && err == nil {
				text = text[strings.Index(text, "A")+1:]
				rows = append(rows[:len(rows)-1-up], rows[len(rows)-1-up], "")[:len(rows)-up]
				continue
			}
			text = strings.TrimPrefix(text, "\x1b[J")
			rows[len(rows)-1] = ""
		case text[0] == '\r': // only before a move to a row that is cleared
			text = text[1:]
		case text[0] == '\n':
			rows, text = append(rows, ""), text[1:]
		default:
			rows[len(rows)-1] += text[:1]
			text = text[1:]
		}
	}
	return rows
}

func TestAFooterStaysBelowTheOutput(t *testing.T) {
	var terminal, other bytes.Buffer
	footer := layout.NewFooter(&terminal, func() int { return 80 })
	out := layout.NewPage(&terminal, func() int { return 80 }).Above(footer)
	fmt.Fprintln(out, "first")
	footer.Show("working", "1s")
	fmt.Fprintln(out, "second")
	footer.Show("working", "2s")
	if got, want := strings.Join(screen(terminal.String()), "|"), "first|second|working|2s|"; got != want {
		t.Errorf("shown: %q, want %q", got, want)
	}
	if !footer.Shown() {
		t.Error("the footer is not shown")
	}
	footer.Show()
	if got, want := strings.Join(screen(terminal.String()), "|"), "first|second|"; got != want {
		t.Errorf("after its end: %q, want %q", got, want)
	}
	errs := layout.NewPage(&other, func() int { return 80 }).Above(footer)
	fmt.Fprintln(errs, "an error")
	if other.String() != "an error\n" {
		t.Errorf("the other stream got %q", other.String())
	}
}

// The answer to a question is typed behind it.
func TestAFooterIsErasedBeforeAPrompt(t *testing.T) {
	var terminal bytes.Buffer
	footer := layout.NewFooter(&terminal, func() int { return 80 })
	out := layout.NewPage(&terminal, func() int { return 80 }).Above(footer)
	footer.Show("working")
	fmt.Fprint(out, "Apply? ")
	if got := screen(terminal.String()); got[len(got)-1] != "Apply? " {
		t.Errorf("the cursor is behind %q", got[len(got)-1])
	}
}

func TestAFooterFitsItsTerminal(t *testing.T) {
	var terminal bytes.Buffer
	width := 20
	footer := layout.NewFooter(&terminal, func() int { return width })
	footer.Show(strings.Repeat("wide ", 20))
	for _, row := range screen(terminal.String()) {
		if layout.Cells(row) > width {
			t.Errorf("%q is wider than %d", row, width)
		}
	}
	terminal.Reset()
	width = 0
	footer.Show("unknown width")
	if strings.Contains(terminal.String(), "unknown") {
		t.Errorf("shown without a width: %q", terminal.String())
	}
}

// A terminal that becomes narrower shows each line that is too long in several rows, and the footer clears them all.
func TestAFooterIsErasedFromAllItsRows(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		width int
		want  string
	}{
		"as wide as before":                   {line: strings.Repeat("x", 30), width: 80, want: "\r\x1b[1A\x1b[J"},
		"half as wide":                        {line: strings.Repeat("x", 30), width: 20, want: "\r\x1b[2A\x1b[J"},
		"exactly as wide as the line":         {line: strings.Repeat("x", 30), width: 30, want: "\r\x1b[1A\x1b[J"},
		"a third as wide":                     {line: strings.Repeat("x", 30), width: 10, want: "\r\x1b[3A\x1b[J"},
		"of unknown width":                    {line: strings.Repeat("x", 30), width: 0, want: "\r\x1b[1A\x1b[J"},
		"wide characters, and half as wide":   {line: strings.Repeat("語", 15), width: 20, want: "\r\x1b[2A\x1b[J"},
		"a line without text, and one column": {line: "", width: 1, want: "\r\x1b[1A\x1b[J"},
	} {
		t.Run(name, func(t *testing.T) {
			var terminal bytes.Buffer
			width := 80
			footer := layout.NewFooter(&terminal, func() int { return width })
			footer.Show(c.line)
			terminal.Reset()
			width = c.width
			footer.Show()
			if got := terminal.String(); got != c.want {
				t.Errorf("erased by %q, want %q", got, c.want)
			}
		})
	}
}

// What is typed while a footer is shown is not echoed among its lines; a question is answered with an echo.
func TestTypedKeysAreNotEchoedBesideAFooter(t *testing.T) {
	var terminal bytes.Buffer
	var echo []bool
	footer := layout.NewFooter(&terminal, func() int { return 80 })
	footer.WithoutEcho(func() { echo = append(echo, false) }, func() { echo = append(echo, true) })
	footer.Show("working", "1s")
	footer.Show("working", "2s")
	footer.Show()
	footer.Show()
	if len(echo) != 2 || echo[0] || !echo[1] {
		t.Errorf("the echo was turned on: %v, want off once and then on once", echo)
	}
	footer.Show("working", "3s")
	footer.KeepEcho()
	footer.Show("working", "4s")
	if len(echo) != 4 || echo[2] || !echo[3] {
		t.Errorf("after a signal the echo was turned on: %v, want on", echo)
	}
}

// A part of a secret is recognized as none.
func TestAFooterIsCutAfterItsSecretsAreHidden(t *testing.T) {
	var terminal bytes.Buffer
	for width := range 80 {
		terminal.Reset()
		layout.NewFooter(&terminal, func() int { return width }).Show("waiting: the pod reports ghp_PLNT0123456789PLNT0123456789PLNT0123")
		if strings.Contains(terminal.String(), "PLNT") {
			t.Errorf("at %d: %q", width, terminal.String())
		}
	}
}

func TestTruncatedTextEndsWithAnEllipsis(t *testing.T) {
	for text, want := range map[string]string{"short": "short", "twelve cells": "twelve ce…", "日本語日本語": "日本語日…"} {
		if got := layout.Cut(text, 10); got != want {
			t.Errorf("Cut(%q) = %q, want %q", text, got, want)
		}
	}
}
