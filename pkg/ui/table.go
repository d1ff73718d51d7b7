package ui

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Table is a list the way kubectl prints lists: blanks between columns, no lines.
type Table struct {
	Header []string
	Rows   [][]string
}

// Write prints the table, without its header when it has none.
func (t Table) Write(w io.Writer) error {
	var b bytes.Buffer
	table := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithPadding(tw.Padding{Right: "   ", Overwrite: true}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
	)
	if len(t.Header) > 0 {
		table.Header(t.Header)
	}
	if err := table.Bulk(t.Rows); err != nil {
		return fmt.Errorf("laying out a table: %w", err)
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("laying out a table: %w", err)
	}
	return trimmed(w, &b)
}

// trimmed copies lines without the blanks at their ends.
func trimmed(w io.Writer, text io.Reader) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if _, err := fmt.Fprintln(w, strings.TrimRight(lines.Text(), " ")); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return lines.Err()
}

// Paint colors words. Color never carries meaning alone: every colored word
// has the meaning of its color. The zero Paint leaves words as they are.
type Paint struct {
	// Color turns colors on.
	Color bool
}

// The colors, as SGR parameters: the terminal's own palette decides their shade.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p Paint) in(sgr, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}
