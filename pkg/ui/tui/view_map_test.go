package tui

import (
	"strings"
	"testing"
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

func TestAMapWithoutRoomIsPrintedByACommand(t *testing.T) {
	m := pressed(shown(t, 80, 24, Options{}, entry(lost())), "m", "m")
	if view := m.View(); !strings.Contains(view, "kubectl fdb status sample --map") {
		t.Error(view)
	}
}
