package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Half an ID, a number or a setting would be another one: a cell ends after a whole word, unless its first word is longer.
func TestNothingOfAPlanIsCutWithinAWord(t *testing.T) {
	f := lost()
	sidecar := "pods.storage containers[foundationdb-kubernetes-sidecar].image"
	f.Plan.Changes = append(f.Plan.Changes, planned.SettingChange{Setting: sidecar, From: new("foundationdb/foundationdb:7.3.79"), To: new("foundationdb/foundationdb:7.3.80")})
	for width := 80; width <= 200; width += 5 {
		m := pressed(shown(t, width, 40, Options{}, entry(f)), "5")
		p := m.page(m.clusterView())
		tables := p.layOutAll(m.listWidth() - markWidth)
		for _, r := range p.rows {
			table := tables[r.list]
			if r.key == "" && !r.titles {
				continue
			}
			for n, cell := range table.fill(r, m.listWidth()-markWidth) {
				if n >= len(r.cells) {
					break
				}
				whole, shown := r.cell(table.Shown[n]), strings.TrimSpace(cell.Text)
				first, _, _ := strings.Cut(whole, " ")
				first, _, _ = strings.Cut(first, ",")
				if shown != strings.TrimSpace(whole) && !strings.HasSuffix(shown, " …") && !strings.HasSuffix(shown, ",…") && widthOf(first+" …") <= widthOf(cell.Text)-table.Gap {
					t.Errorf("at %d columns %q is cut to %q", width, whole, shown)
				}
			}
		}
		view := m.View()
		for _, want := range []string{"7.3.79 → 7.3.80", sidecar, "foundationdb/foundationdb:7.3.79 → …:7.3.80"} {
			if !strings.Contains(view, want) {
				t.Errorf("at %d columns %q of a setting is missing in\n%s", width, want, view)
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
