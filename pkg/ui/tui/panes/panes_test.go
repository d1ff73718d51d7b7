package panes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPanesFillTheTerminalAndNoMore(t *testing.T) {
	tests := map[string]struct {
		width int
		panes int
	}{
		"a narrow terminal has a list":         {80, 1},
		"one column less than two panes need":  {Two - 1, 1},
		"two panes":                            {Two, 2},
		"one column less than three need":      {Three - 1, 2},
		"three panes":                          {Three, 3},
		"a very wide terminal has three panes": {400, 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := Of(tc.width)
			total, n := 0, 0
			for _, w := range []int{l.List, l.Side, l.Third} {
				if w > 0 {
					total, n = total+w, n+1
				}
			}
			if n != tc.panes || total+3*(n-1) != tc.width || l.List < l.Side || l.Side < l.Third {
				t.Errorf("%+v", l)
			}
		})
	}
}

func TestPanesAreJoinedLineByLine(t *testing.T) {
	got := Join(4, strings.ToUpper, func(text string) string { return "<" + text + ">" }, Pane{"list", 10, []string{"a", "\x1b[1mbold\x1b[0m"}}, Pane{"例", 3, []string{"x", "例", "z"}}, Pane{"c", 5, []string{"1"}})
	want := []string{"<━ list ━━━>─┬── …─┬── C ─", "a          │ x   │ 1", "\x1b[1mbold\x1b[0m       │ 例  │", "           │ z   │"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
