package tui

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// described returns a frame with everything that the figures of the header show.
func described() *frame.Frame {
	f := well()
	f.Workload = &workload.View{Load: workload.Load{
		Transactions: workload.TransactionLoad{CommittedPerSecond: new(2310.0)}, Latency: workload.Latency{CommitSeconds: new(0.0012)},
	}}
	f.Groups.Items[0].SpaceUsed, f.Groups.Items[1].SpaceUsed = new(0.31), new(0.2)
	return f
}

func TestTheHeaderHasTheFiguresOfTheCluster(t *testing.T) {
	tests := map[string]struct {
		given func(*frame.Frame)
		width int
		want  string
	}{
		"everything is known":                      {func(*frame.Frame) {}, 120, "7.3.79 double · 12/12 groups · 3/3 coordinators · 2310 tx/s · 1.2ms per commit · 31% disk"},
		"whole figures where there is little room": {func(*frame.Frame) {}, 80, "7.3.79 double · 12/12 groups · 3/3 coordinators · 2310 tx/s · 1.2ms per commit"},
		"a process group does not report":          {func(f *frame.Frame) { f.Groups.Items[3].Processes = new(0) }, 120, "11/12 groups"},
		"one that was removed does not report":     {func(f *frame.Frame) { f.Groups.Items[3].Processes, f.Groups.Items[3].RemovalSince = new(0), ago(60e9) }, 120, "11/11 groups"},
		"a coordinator does not answer":            {func(f *frame.Frame) { f.Coordinators.Reachable = new(2) }, 120, "2/3 coordinators"},
		"the database does not answer": {func(f *frame.Frame) {
			for i := range f.Groups.Items {
				f.Groups.Items[i].Processes, f.Groups.Items[i].SpaceUsed = nil, nil
			}
			f.Status.Configuration.Live, f.Workload, f.Coordinators.Reachable, f.Coordinators.QuorumReachable = nil, nil, nil, nil
		}, 120, "7.3.79 · ?/12 groups · ?/3 coordinators · ? tx/s · ? per commit · ? disk"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := described()
			tc.given(f)
			lines := strings.Split(shown(t, tc.width, 40, Options{}, entry(f)).View(), "\n")
			if !strings.Contains(lines[2], tc.want) || strings.Contains(lines[2], "…") {
				t.Errorf("%s, want %s", lines[2], tc.want)
			}
		})
	}
}

func TestSourcesAreShownOnlyWhereOneIsLateOrFails(t *testing.T) {
	tests := map[string]struct {
		given func(*frame.Frame)
		want  string
	}{
		"all are read in time": {func(*frame.Frame) {}, ""},
		"one is being read":    {func(f *frame.Frame) { f.Sources[1].RequestedAt = ago(slow) }, ""},
		"one is late":          {func(f *frame.Frame) { f.Sources[1].AsOf = ago(60 * slow) }, "age: kubernetes 2s · ! database 3m · events 2s"},
		"one never answered":   {func(f *frame.Frame) { f.Sources[1].AsOf, f.Sources[1].RequestedAt = nil, ago(60*slow) }, "! database never, polling 3m"},
		"one failed":           {func(f *frame.Frame) { f.Sources[2].Problem = "forbidden" }, "✗ events 2s: forbidden"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := well()
			tc.given(f)
			m := shown(t, 120, 40, Options{}, entry(f))
			view := m.View()
			if has := strings.Contains(view, "age: "); has != (tc.want != "") || !strings.Contains(view, tc.want) {
				t.Errorf("want %q in\n%s", tc.want, view)
			}
			if help := pressed(m, "?", "G").View(); !strings.Contains(help, "kubernetes") {
				t.Errorf("no ages in the help:\n%s", help)
			}
		})
	}
}

func TestAFilterCountsTheRowsThatMatch(t *testing.T) {
	m := pressed(shown(t, 120, 40, Options{}, entry(well())), "/", "log-", "enter")
	if view := m.View(); !strings.Contains(view, "4 of 12 match · 12 process groups") {
		t.Error(view)
	}
	if view := pressed(m, "esc").View(); strings.Contains(view, "match") {
		t.Error(view)
	}
	if view := pressed(m, "z").View(); !strings.Contains(view, "4 of 12 match") {
		t.Errorf("headlines count:\n%s", view)
	}
}

// All keys are seen at once, whatever the header shows.
func TestHelpShowsAllKeysOnATerminalOf120Columns(t *testing.T) {
	for name, f := range map[string]*frame.Frame{"healthy": described(), "an outage": lost()} {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 120, 40, Options{Actions: &acting{}}, entry(f)), "?").View()
			for _, b := range bindings() {
				if !strings.Contains(view, "  "+fit(b.show, keyWidth)+b.does) {
					t.Errorf("no %s (%s)", b.show, b.does)
				}
			}
			if t.Failed() {
				t.Log(view)
			}
		})
	}
}

func TestHelpHasEverySectionInOneColumn(t *testing.T) {
	in := map[string]int{}
	for _, column := range helpColumns {
		for _, section := range column {
			in[section]++
		}
	}
	for _, section := range sections() {
		if in[section] != 1 || len(in) != len(sections()) {
			t.Errorf("%s is in %d columns of %v", section, in[section], helpColumns)
		}
	}
}

func TestPanesHaveTitlesAndTheFocusedOneIsMarked(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		lines := strings.Split(shown(t, size[0], size[1], Options{}, entry(well())).View(), "\n")
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "━ groups ━") })
		if want := size[0] >= 120; (i >= 0) != want {
			t.Fatalf("%v: titles %t, want %t", size, i >= 0, want)
		}
		if i < 0 {
			continue
		}
		for _, want := range map[int][]string{120: {"─ log-1 ─"}, 200: {"─ log-1 ─", "─ plan and events ─"}}[size[0]] {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%v: no %q in %s", size, want, lines[i])
			}
		}
		if w := widthOf(lines[i]); w != size[0] {
			t.Errorf("%v: the titles are %d wide: %s", size, w, lines[i])
		}
	}
}

func TestTheDashboardExplainsAsTheCommandDoes(t *testing.T) {
	s := shown(t, 100, 46, Options{}, entriesOfALoss()...).clusterView()
	for _, group := range []string{"", "storage-3", "log-2", "stateless-2", "storage-1"} {
		report := s.whyReport(group)
		var printed bytes.Buffer
		if err := ui.WriteWhy(&printed, *report, ui.WhyOptions{ListOptions: ui.ListOptions{Now: s.now}}); err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, l := range s.whyLines(group, 100, heading("")) {
			shown = append(shown, l.Text())
		}
		shown = shown[1 : len(shown)-1] // the heading, and the age of the preview
		if diff := cmp.Diff(strings.Fields(printed.String()), strings.Fields(strings.Join(shown, "\n"))); diff != "" {
			t.Errorf("why %s (-command +dashboard):\n%s", group, diff)
		}
	}
}
