package tui

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
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

func TestATaintRuleThatNeverEndsIsShownAsNever(t *testing.T) {
	far := time.Date(2343, 10, 9, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		node   func(*inspect.NodeView)
		cells  []string // detected in, replaced in
		detail string
	}{
		"never": {func(n *inspect.NodeView) { n.Never, n.MatchedRules[0].Never = true, true }, []string{"never", "never"}, "drain never causes a replacement"},
		"three centuries": {func(n *inspect.NodeView) {
			n.DetectAt, n.ReplaceAt, n.MatchedRules[0].Seconds = &far, &far, 10_000_000_000
		}, []string{"317y", "317y"}, "drain is allowed for 10000000000s"},
		"unknown": {func(*inspect.NodeView) {}, []string{"?", "?"}, "drain is allowed for 60s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := inspect.NodeView{
				Name: "node-1", Taints: []string{"drain:NoSchedule"}, MatchedRules: []inspect.TaintRuleView{{Key: "drain", Seconds: 60}},
				TaintedSince: ago(2 * time.Hour), ProcessGroups: []string{"storage-1"},
			}
			tc.node(&n)
			f := well()
			f.Nodes.Items = []inspect.NodeView{n}
			s := clusterView{state: state{frame: f}, now: noon, o: &Options{}}
			var cells []string
			for _, cell := range nodeRow(n).build(s)[8:10] {
				cells = append(cells, cell.Text)
			}
			if !slices.Equal(cells, tc.cells) {
				t.Errorf("noted and replaced in %q, want %q", cells, tc.cells)
			}
			var detail strings.Builder
			for _, l := range s.aboutNode("node-1") {
				for _, part := range l {
					detail.WriteString(part.Text)
				}
				detail.WriteString("\n")
			}
			if !strings.Contains(detail.String(), tc.detail) {
				t.Errorf("the detail lacks %q:\n%s", tc.detail, detail.String())
			}
		})
	}
}
