package layout

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Colors change nothing but colors: neither what is shown, nor where; and no color goes on beside its cell.
func TestAStyledTableHasTheTextOfAPlainOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		table, width := randomTable(r), 60+r.IntN(120)
		var plain, styled bytes.Buffer
		if err := table.Write(NewPage(&plain, func() int { return width })); err != nil {
			t.Fatal(err)
		}
		for _, row := range table.Rows {
			styles := make([]string, len(row))
			for i := range styles {
				styles[i] = []string{"", "31", "2"}[r.IntN(3)]
			}
			table.Styles = append(table.Styles, styles)
		}
		if err := table.Write(NewPage(&styled, func() int { return width })); err != nil {
			t.Fatal(err)
		}
		if got := ansi.Strip(styled.String()); got != plain.String() {
			t.Fatalf("in %d cells:\n%s\nwant\n%s", width, got, &plain)
		}
		for line := range strings.Lines(styled.String()) {
			if strings.Count(line, "\x1b[0m") != strings.Count(line, "\x1b[31m")+strings.Count(line, "\x1b[2m") {
				t.Fatalf("a style does not end in its line: %q", line)
			}
		}
	}
}
