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
