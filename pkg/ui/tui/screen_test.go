package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
)

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

// entriesOfALoss are the entries of a cluster that lost a node, and of a running pass.
func entriesOfALoss() []Entry { return append([]Entry{entry(lost())}, running()...) }

// kept returns a view without the empty lines at its end, for a golden.
func kept(screen string) string {
	lines := strings.Split(screen, "\n")
	last := lines[len(lines)-1]
	body := strings.TrimRight(strings.Join(lines[:len(lines)-1], "\n"), "\n ")
	return fmt.Sprintf("%s\n~%d\n%s\n", body, strings.Count(strings.Join(lines[:len(lines)-1], "\n"), "\n")-strings.Count(body, "\n"), last)
}

func TestDashboardViews(t *testing.T) {
	for i, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			var b strings.Builder
			for _, size := range sizes {
				m := pressed(shown(t, size[0], size[1], Options{}, entriesOfALoss()...), fmt.Sprint((i+1)%10))
				fmt.Fprintf(&b, "# %dx%d\n%s", size[0], size[1], kept(m.View()))
			}
			golden.RequireEqual(t, []byte(b.String()))
		})
	}
}

func TestDashboardViewsOnASmallTerminal(t *testing.T) {
	var b strings.Builder
	for _, size := range [][2]int{{40, 15}, {60, 20}} {
		for i := range views() {
			m := pressed(shown(t, size[0], size[1], Options{}, entriesOfALoss()...), fmt.Sprint(i+1))
			fmt.Fprintf(&b, "# %dx%d\n%s", size[0], size[1], kept(m.View()))
		}
	}
	golden.RequireEqual(t, []byte(b.String()))
}

func TestDashboardViewsOfAHealthyCluster(t *testing.T) {
	var b strings.Builder
	for i := range views() {
		m := pressed(shown(t, 80, 24, Options{}, entry(well())), fmt.Sprint((i+1)%10))
		b.WriteString(kept(m.View()))
	}
	golden.RequireEqual(t, []byte(b.String()))
}

// Colors are shown as the marks of their escape sequences.
func TestColors(t *testing.T) {
	for i, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			var b strings.Builder
			for _, size := range sizes {
				m := pressed(shown(t, size[0], size[1], Options{Color: true}, entriesOfALoss()...), fmt.Sprint((i+1)%10))
				fmt.Fprintf(&b, "# %dx%d\n%s", size[0], size[1], strings.ReplaceAll(kept(m.View()), "\x1b", "␛"))
			}
			golden.RequireEqual(t, []byte(b.String()))
		})
	}
}

func TestDashboardColorsDoNotChangeTextOrLayout(t *testing.T) {
	for _, size := range sizes {
		for _, keys := range [][]string{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"8"}, {"9"}, {"0"}, {"enter"}, {"w"}, {"?"}, {"z"}, {"/", "st"}, {":", "st"}} {
			withoutColor := pressed(shown(t, size[0], size[1], Options{}, entriesOfALoss()...), keys...).View()
			colored := pressed(shown(t, size[0], size[1], Options{Color: true}, entriesOfALoss()...), keys...).View()
			if strings.Contains(withoutColor, "\x1b") {
				t.Errorf("%v: a view without colors has escape sequences", keys)
			}
			if !strings.Contains(colored, "\x1b[") {
				t.Errorf("%v: a view with colors has none", keys)
			}
			if diff := cmp.Diff(trimmedLines(withoutColor), trimmedLines(ansi.Strip(colored))); diff != "" {
				t.Errorf("%v: %s", keys, diff)
			}
		}
	}
}

func trimmedLines(screen string) []string {
	lines := strings.Split(screen, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

func TestDashboardDetailPanes(t *testing.T) {
	tests := map[string][]string{
		"all about a process group":      {"enter"},
		"why of a process group":         {"w"},
		"events of a process group":      {":", "storage-3", "enter", "e"},
		"what a pass does about a group": {":", "storage-1", "enter", "d"},
		"why of the cluster":             {"6", "w"},
		"a node":                         {"2", "enter"},
		"an exclusion":                   {"3", "enter"},
		"a lock":                         {"6", "enter"},
		"an event":                       {"7", "j", "enter"},
		"a stage of a pass":              {"8", "j", "enter"},
		"a backup":                       {"9", "enter"},
		"a backup that was not read":     {"9", "j", "j", "enter"},
		"a restore":                      {"9", "G", "enter"},
		"help":                           {"?"},
		"process groups by zone":         {"z"},
		"process groups by class":        {"z", "z", "o"},
		"a filter being typed":           {"/", "storage"},
		"rows with problems only":        {"c"},
		"going somewhere":                {":", "lo"},
	}
	for name, keys := range tests {
		t.Run(name, func(t *testing.T) {
			m := pressed(shown(t, 100, 46, Options{}, entriesOfALoss()...), keys...)
			golden.RequireEqual(t, []byte(kept(m.View())))
		})
	}
}

// The selected row has one color from its mark to the edge of the list, whatever its cells have.
func TestTheSelectedRowHasOneColor(t *testing.T) {
	for _, size := range append(slices.Clone(sizes), [2]int{40, 15}) {
		m := shown(t, size[0], size[1], Options{Color: true}, entriesOfALoss()...)
		i := slices.IndexFunc(strings.Split(m.View(), "\n"), func(l string) bool { return strings.Contains(l, markChosen) })
		row := strings.Split(m.View(), "\n")[i]
		chosen, _, found := strings.Cut(strings.TrimPrefix(row, "\x1b[7m"), "\x1b[0m")
		if want := panes.Of(size[0]).List; !strings.HasPrefix(row, "\x1b[7m"+markChosen) || !found || strings.Contains(chosen, "\x1b") || ansi.StringWidth(chosen) != want {
			t.Errorf("%v: %d columns of %d: %q", size, ansi.StringWidth(chosen), want, row)
		}
	}
}

func TestATerminalTooSmallForTheDashboardShowsTheRequiredSize(t *testing.T) {
	for _, size := range [][2]int{{39, 15}, {40, 14}, {34, 5}, {1, 1}} {
		m := shown(t, size[0], size[1], Options{}, entriesOfALoss()...)
		if view := m.View(); size[0] > 30 && view != fmt.Sprintf("needs 40x15, has %dx%d; q quits", size[0], size[1]) {
			t.Errorf("%v: %q", size, view)
		}
		if why := misfit(m); why != "" {
			t.Errorf("%v: %s", size, why)
		}
	}
}

// misfit returns how a view exceeds the size of the terminal; empty if it does not.
func misfit(m model) string {
	lines := strings.Split(m.View(), "\n")
	if len(lines) > m.height {
		return fmt.Sprintf("%d lines in a terminal of %d", len(lines), m.height)
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > m.width {
			return fmt.Sprintf("%d columns in a terminal of %d: %q", w, m.width, l)
		}
	}
	return ""
}
