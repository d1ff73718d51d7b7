package layout

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Table is a list the way kubectl prints lists: blanks between columns, no lines.
type Table struct {
	Columns []Column
	// NoHeaders leaves out the header row.
	NoHeaders bool
	// Rows have a cell for each column.
	Rows [][]string
	// Styles are those of the cells, as SGR parameters: empty for a plain cell, and nil for a plain table.
	Styles [][]string
}

// Write prints the table, fitted to the width of w.
func (t Table) Write(w io.Writer) error {
	t.Rows = cleanRows(t.Rows)
	width := Width(w)
	columns := t.Columns
	if t.NoHeaders {
		columns = nameless(columns)
	}
	f := t.fit(width, columns)
	rows := make([][]string, len(t.Rows))
	heights := make([]int, len(t.Rows))
	for i, row := range t.Rows {
		rows[i], heights[i] = f.cells(row, t.styles(i))
	}
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.Name
	}
	header, headerHeight := f.cells(header, nil)
	if t.NoHeaders || len(header) == 0 {
		header, headerHeight = nil, 0
	}
	lines, err := render(header, rows, f.Gap)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(Raw(w))
	printLines(b, lines[:headerHeight])
	at := headerHeight
	for i, row := range t.Rows {
		printLines(b, lines[at:at+heights[i]])
		at += heights[i]
		for _, column := range f.Below {
			below(b, width, t.Columns[column].Name, row[column])
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

func (t Table) fit(width int, columns []Column) Fitted {
	return Grid{Columns: columns, Rows: len(t.Rows), Cell: func(row, column int) string { return t.Rows[row][column] }}.Fit(width)
}

// cleanRows returns rows whose cells are text on one line.
func cleanRows(rows [][]string) [][]string {
	all := make([][]string, len(rows))
	for i, row := range rows {
		all[i] = make([]string, len(row))
		for j, cell := range row {
			all[i][j] = cleanLine(cell)
		}
	}
	return all
}

func nameless(columns []Column) []Column {
	all := make([]Column, len(columns))
	for i, c := range columns {
		c.Name = ""
		all[i] = c
	}
	return all
}

// styles are those of a row; nil for none.
func (t Table) styles(row int) []string {
	if t.Styles == nil {
		return nil
	}
	return t.Styles[row]
}

// cells returns the cells of a row that the table shows, each wrapped to its width and in its style, and the number
// of lines that the row has.
func (f Fitted) cells(row, styles []string) (cells []string, height int) {
	height = 1
	for at, i := range f.Shown {
		lines := slices.DeleteFunc(Wrap(row[i], f.Widths[at], 0), isBlank) // the renderer leaves out some of these, so that heights would differ
		height = max(height, len(lines))
		if styles != nil && styles[i] != "" {
			for l := range lines {
				lines[l] = Styled(styles[i], lines[l])
			}
		}
		cells = append(cells, strings.Join(lines, "\n"))
	}
	return cells, height
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// below prints the cell of a column that has no room in the row.
func below(w io.Writer, width int, name, cell string) {
	if cell == phrase.Nothing || cell == "" {
		return
	}
	label := "    "
	if name != "" {
		label += strings.ToLower(name) + ": "
	}
	fmt.Fprintln(w, Labeled(label, cell, width))
}

func printLines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// render aligns cells, which may have several lines.
func render(header []string, rows [][]string, gap int) ([]string, error) {
	var b bytes.Buffer
	table := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithPadding(tw.Padding{Right: strings.Repeat(" ", gap), Overwrite: true}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
	)
	if len(header) > 0 {
		table.Header(header)
	}
	if err := table.Bulk(rows); err != nil {
		return nil, fmt.Errorf("format a table: %w", err)
	}
	if err := table.Render(); err != nil {
		return nil, fmt.Errorf("format a table: %w", err)
	}
	// Styled cells end their styles themselves, which the renderer does not recognize.
	text := strings.ReplaceAll(b.String(), "\x1b[0m", "")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), nil
}
