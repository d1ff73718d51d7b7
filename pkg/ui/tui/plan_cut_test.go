package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Half an ID, a number or a setting would be another one: a cell ends after a whole word, unless its first word is longer.
func TestNothingOfAPlanIsCutWithinAWord(t *testing.T) {
	f := lost()
	for width := 60; width <= 200; width += 5 {
		m := pressed(shown(t, width, 40, Options{}, entry(f)), "5")
		p := m.page(m.clusterView())
		tables := p.layOutAll(m.listWidth() - markWidth)
		for _, r := range p.rows {
			table := tables[r.list]
			for n, cell := range table.fill(r, m.listWidth()-markWidth) {
				whole, shown := r.cell(table.Shown[n]), strings.TrimSpace(cell.Text)
				first, _, _ := strings.Cut(whole, " ")
				if shown != strings.TrimSpace(whole) && !strings.HasSuffix(shown, " …") && widthOf(first+" …") <= table.Widths[n] {
					t.Errorf("at %d columns %q is cut to %q", width, whole, shown)
				}
			}
		}
	}
}

// The selected row of an operation read ▸▸.
func TestTheMarkOfTheSelectedRowIsThatOfNoTone(t *testing.T) {
	for tone := range list.Tones {
		if mark := tone.Mark(); mark == markChosen || layout.ASCII(mark) == layout.ASCII(markChosen) {
			t.Errorf("tone %d has %q, too", tone, mark)
		}
	}
}
