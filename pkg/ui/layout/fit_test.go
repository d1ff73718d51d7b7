package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// randomTable has an identity in its first column.
func randomTable(r *rand.Rand) Table {
	t := Table{Columns: []Column{{Name: "ID"}, {Name: "STATE"}}, NoHeaders: r.IntN(4) == 0}
	for i := range 1 + r.IntN(10) {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("COLUMN-%d", i), Drop: r.IntN(5), Min: r.IntN(3) * 7, Below: r.IntN(5) == 0, Roomy: r.IntN(8) == 0})
	}
	for i := range r.IntN(20) {
		row := []string{fmt.Sprintf("%s-%d", []string{"storage", "a-long-prefix-stateless"}[r.IntN(2)], i), []string{"ok", "not-reporting"}[r.IntN(2)]}
		for range t.Columns[2:] {
			row = append(row, []string{phrase.Nothing, ansi.Strip(words(r, 6))}[r.IntN(2)]) // cells have no colors
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func TestATableFitsItsTerminal(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		table, width := randomTable(r), 60+r.IntN(200)
		var b bytes.Buffer
		if err := table.Write(NewPage(&b, func() int { return width })); err != nil {
			t.Fatal(err)
		}
		if n := widestIn(b.String()); n > width {
			t.Fatalf("%d cells in a width of %d:\n%s", n, width, &b)
		}
		if all := table.fit(1<<16, table.Columns); len(all.Below) > 0 || len(all.Shown) != len(table.Columns) {
			t.Fatalf("a wide terminal shows %v, and %v below", all.Shown, all.Below)
		}
		f := table.fit(width, table.Columns)
		for i, c := range table.Columns {
			shown := slices.Contains(f.Shown, i) || slices.Contains(f.Below, i)
			if c.Drop == 0 && !c.Roomy && !shown {
				t.Fatalf("dropped %s, which has to stay", c.Name)
			}
		}
	}
}

// What is unknown in all rows takes no room of what is known: its column becomes as narrow as its cells, then it goes.
func TestAColumnInWhichAllIsUnknownGivesWayFirst(t *testing.T) {
	columns := []Column{{Name: "ID"}, {Name: "EXCLUSION", Typical: 10, Drop: 1}, {Name: "ROLES", Min: 12, Drop: 2}}
	tests := map[string]struct {
		exclusions []string
		width      int
		want       []int
		widths     []int
	}{
		"there is room":                 {[]string{phrase.UnknownCell, phrase.Nothing}, 40, []int{0, 1, 2}, []int{9, 9, 14}},
		"none is known":                 {[]string{phrase.UnknownCell, phrase.Nothing}, 30, []int{0, 1, 2}, []int{9, 3, 14}},
		"none is known, with less room": {[]string{phrase.UnknownCell, phrase.Nothing}, 24, []int{0, 2}, []int{9, 13}},
		"one is known":                  {[]string{phrase.UnknownCell, "safe"}, 30, []int{0, 1}, []int{9, 9}},
		"there is none":                 {[]string{phrase.Nothing, phrase.Nothing}, 30, []int{0, 2}, []int{9, 14}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rows := [][]string{{"storage-1", tc.exclusions[0], "storage,master"}, {"storage-2", tc.exclusions[1], "storage"}}
			f := Grid{Columns: columns, Rows: len(rows), Cut: true, Cell: func(row, column int) string { return rows[row][column] }}.Fit(tc.width)
			if !slices.Equal(f.Shown, tc.want) || !slices.Equal(f.Widths, tc.widths) {
				t.Errorf("%v of %v cells, want %v of %v", f.Shown, f.Widths, tc.want, tc.widths)
			}
		})
	}
}

// A column goes only after all that are less important, save those that have no value at all.
func TestTableColumnsAreDroppedByPriority(t *testing.T) {
	columns := []Column{{Name: "ID"}, {Name: "A", Drop: 1}, {Name: "B", Drop: 3}, {Name: "C", Drop: 2}, {Name: "EMPTY", Drop: 1}}
	cell := strings.Repeat("x", 20)
	rows := [][]string{{"storage-1", cell, cell, cell, phrase.Nothing}}
	for width, want := range map[int][]int{100: {0, 1, 2, 3, 4}, 79: {0, 1, 2, 3}, 60: {0, 1, 3}, 40: {0, 1}, 20: {0}} {
		if got := (Table{Rows: rows}).fit(width, columns).Shown; !slices.Equal(got, want) {
			t.Errorf("at %d shows %v, want %v", width, got, want)
		}
	}
}

func TestATableWrittenToAPipeHasAllCells(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		table := randomTable(r)
		var b bytes.Buffer
		if err := table.Write(&b); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n != len(table.Rows)+map[bool]int{true: 0, false: 1}[table.NoHeaders] {
			t.Fatalf("%d lines for %d rows:\n%s", n, len(table.Rows), &b)
		}
		for _, row := range table.Rows {
			for _, cell := range row {
				if !strings.Contains(b.String(), strings.TrimSpace(cell)) {
					t.Fatalf("%q is missing:\n%s", cell, &b)
				}
			}
		}
	}
}

func TestColumnsThatDoNotFitArePrintedBelowTheirRow(t *testing.T) {
	table := Table{Columns: []Column{{Name: "RULE"}, {Name: "MESSAGE", Below: true}, {Name: "FIX", Below: true}}, Rows: [][]string{
		{"POD-005", "its pods wait for nodes that are not reachable for longer than they should", "kubectl patch foundationdbcluster sample --type merge -p '{}'"},
		{"PG-001", "one is missing", phrase.Nothing},
	}}
	var b bytes.Buffer
	if err := table.Write(NewPage(&b, func() int { return 60 })); err != nil {
		t.Fatal(err)
	}
	want := `RULE
POD-005
    message: its pods wait for nodes that are not reachable
             for longer than they should
    fix: kubectl patch foundationdbcluster sample \
        --type merge -p '{}'
PG-001
    message: one is missing
`
	if b.String() != want {
		t.Errorf("got\n%s", &b)
	}
}

// A column that needs room never narrows or displaces another one.
func TestARoomyColumnShowsOnlyBesideAllOthers(t *testing.T) {
	columns := []Column{{Name: "ID"}, {Name: "WHAT", Min: 5}, {Name: "POD", Roomy: true, Drop: 2}, {Name: "IMAGE", Roomy: true, Drop: 3}, {Name: "KEY", Optional: true}}
	cell := strings.Repeat("x", 20)
	rows := [][]string{{"storage-1", cell, cell, cell, phrase.Nothing}}
	for width, want := range map[int][]int{0: {0, 1, 2, 3}, 78: {0, 1, 2, 3}, 77: {0, 1, 2}, 54: {0, 1}, 20: {0, 1}} {
		if got := (Table{Rows: rows}).fit(width, columns).Shown; !slices.Equal(got, want) {
			t.Errorf("at %d shows %v, want %v", width, got, want)
		}
	}
}

// IDs in lists, and those that identify rows, stay whole as long as other columns can give way.
func TestIDsAreNotWrappedInTables(t *testing.T) {
	columns := []Column{{Name: "SUBJECT", Min: 10}, {Name: "MESSAGE", Min: 10, Below: true}}
	id := "europe-west1-production-storage-12345"
	rows := [][]string{{id + "," + id, strings.Repeat("word ", 30)}}
	f := Table{Rows: rows}.fit(60, columns)
	for _, line := range Wrap(rows[0][0], f.Widths[0], 0) {
		if strings.TrimSuffix(line, ",") != id {
			t.Errorf("broken: %q", line)
		}
	}
}
