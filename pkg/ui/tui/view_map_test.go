package tui

import (
	"strings"
	"testing"
	"unicode"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

func TestTheMapHeadsTheProcessGroupsWhereThereIsRoom(t *testing.T) {
	const legend = "disk used"
	tests := map[string]struct {
		width, height int
		keys          []string
		want          bool
	}{
		"a large terminal":                   {120, 40, nil, true},
		"one that the list needs for itself": {80, 24, nil, false},
		"one that is too narrow":             {60, 60, nil, false},
		"a key hides it":                     {120, 40, []string{"m"}, false},
		"and shows it again":                 {120, 40, []string{"m", "m"}, true},
		"another view":                       {120, 40, []string{"2"}, false},
		"the key does nothing in another":    {120, 40, []string{"2", "m", "1"}, true},
		"a pane":                             {120, 40, []string{"enter"}, false},
		"the past":                           {120, 40, []string{"["}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := lost()
			f.Groups.Items[3].SpaceUsed = new(0.4)
			m := pressed(shown(t, tc.width, tc.height, Options{}, entry(well()), entry(f)), tc.keys...)
			view := m.View()
			if got := strings.Contains(view, "zone lost") || strings.Contains(view, " up, coordinator") || strings.Contains(view, legend); got != tc.want {
				t.Errorf("a map: %t, want %t in\n%s", got, tc.want, view)
			}
			if n := strings.Count(view, "\n") + 1; n != tc.height {
				t.Errorf("%d lines, want %d", n, tc.height)
			}
		})
	}
}

// Whatever the map takes, the selected row is visible.
func TestTheSelectedRowIsVisibleBelowTheMap(t *testing.T) {
	for height := fullHeight; height < 60; height++ {
		m := pressed(crowded(t, 60), "G")
		m.height = height
		m = m.clamped()
		if view := m.View(); !strings.Contains(view, "rows ") || m.chosenGroup() == "" || !strings.Contains(view, m.chosenGroup()) {
			t.Fatalf("height %d: no %s in\n%s", height, m.chosenGroup(), view)
		}
	}
}

// A terminal without other characters than those of ASCII gets a map in them.
func TestTheMapHasOtherSymbolsWithoutUTF8(t *testing.T) {
	view := shown(t, 120, 40, Options{ASCII: true}, entry(lost())).View()
	if !strings.Contains(view, "x 1 down") && !strings.Contains(view, "x 2 down") || strings.Contains(view, "●") {
		t.Error(view)
	}
}

// Every view, pane and list of keys, whose names of the cluster stay as they are, with the signs of all kinds of process groups, of a plan and of a running operation.
func TestATerminalWithoutUTF8GetsOnlyASCII(t *testing.T) {
	for _, entries := range [][]Entry{{entry(lost())}, {entry(described())}, entriesOfALoss(), underLoad(16), running()} {
		in, as := shown(t, 120, 40, Options{ASCII: true}, entries...), shown(t, 120, 40, Options{}, entries...)
		for _, keys := range [][]string{{}, {"1"}, {"1", "m"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"8"}, {"9"}, {"0"}, {"?"}, {"w"}, {"enter"}, {"/"}} {
			view, usual := pressed(in, keys...).View(), pressed(as, keys...).View()
			if at := strings.IndexFunc(view, func(r rune) bool { return r > unicode.MaxASCII && !unicode.IsLetter(r) }); at >= 0 {
				t.Fatalf("%q: %.20q in\n%s", keys, view[at:], view)
			}
			for i, line := range strings.Split(usual, "\n") {
				if got := strings.Split(view, "\n")[i]; layout.Cells(got) != layout.Cells(line) {
					t.Fatalf("%q: %q is not as wide as %q", keys, got, line)
				}
			}
		}
	}
}

func TestAMapWithoutRoomIsPrintedByACommand(t *testing.T) {
	m := pressed(shown(t, 80, 24, Options{}, entry(lost())), "m", "m")
	if view := m.View(); !strings.Contains(view, "kubectl fdb status sample --map") {
		t.Error(view)
	}
}
