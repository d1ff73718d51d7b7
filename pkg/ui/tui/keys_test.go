package tui

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Help and dispatch use the same list, which this test checks.
func TestEveryDashboardKeyIsUniqueAndInHelp(t *testing.T) {
	m := pressed(shown(t, 120, 90, Options{Actions: &acting{}}, entry(lost())), "?")
	help, owner := m.View(), map[string]string{}
	for _, b := range bindings() {
		if b.show == "" || b.does == "" || b.do == nil || len(b.keys) == 0 {
			t.Errorf("%v: show %q, does %q", b.keys, b.show, b.does)
		}
		if !strings.Contains(help, "  "+fit(b.show, keyWidth)+b.does) {
			t.Errorf("help does not have %s: %s", b.show, b.does)
		}
		for _, k := range b.keys {
			if owner[k] != "" {
				t.Errorf("%s is for %q and for %q", k, owner[k], b.does)
			}
			owner[k] = b.does
		}
	}
	sections := strings.Join(sections(), " ")
	for _, b := range bindings() {
		if !strings.Contains(sections, b.section) {
			t.Errorf("%s is in section %q, which help omits", b.show, b.section)
		}
	}
}

func TestDashboardJumpsToAViewClusterOrGroupByName(t *testing.T) {
	tests := map[string]struct {
		typed string
		shows []string
	}{
		"a view":                        {"locks", []string{"[6 locks]"}},
		"the beginning of a view":       {"coo", []string{"[4 coordinators]"}},
		"a cluster":                     {"other", []string{"fdb/other"}},
		"a process group":               {"storage-4", []string{"storage-4 (storage)", "[1 groups]"}},
		"its pod":                       {"sample-log-3", []string{"log-3 (log)"}},
		"the exact name before longer":  {"storage-1", []string{"storage-1 (storage)"}},
		"no match":                      {"nowhere", []string{"no view, cluster or process group matches nowhere"}},
		"a part of a name, in any case": {"LESS-3", []string{"stateless-3 (stateless)"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 100, 40, Options{}, entry(lost())), "7", "/", "zzz", "enter", ":", tc.typed, "enter").View()
			for _, want := range tc.shows {
				if !strings.Contains(view, want) {
					t.Errorf("no %q in\n%s", want, view)
				}
			}
		})
	}
}

func TestTheCursorStaysOnTheSelectedRow(t *testing.T) {
	m := pressed(shown(t, 100, 40, Options{}, entry(well())), ":", "storage-3", "enter", "esc")
	if got := m.chosenGroup(); got != "storage-3" {
		t.Fatalf("chosen is %s", got)
	}
	for _, next := range []Entry{entry(lost()), entry(well())} {
		m = after(m, entryMsg{Entry: next})
		if got := m.chosenGroup(); got != "storage-3" {
			t.Errorf("chosen is %s after another frame", got)
		}
	}
	m = pressed(m, "o", "z")
	if got := m.chosenGroup(); got != "storage-3" {
		t.Errorf("chosen is %s after another order", got)
	}
}

func TestTheOpenGroupViewReportsThatTheGroupNoLongerExists(t *testing.T) {
	m := pressed(shown(t, 100, 40, Options{}, entry(well())), ":", "storage-3", "enter")
	f := well()
	f.Groups.Items = f.Groups.Items[:2]
	m = after(m, entryMsg{Entry: entry(f)})
	if view := m.View(); !strings.Contains(view, "! storage-3 no longer exists") {
		t.Error(view)
	}
}

func TestCopyingAnIDShowsItAndSetsTheClipboard(t *testing.T) {
	m := shown(t, 100, 40, Options{}, entry(lost()))
	next, cmd := m.Update(keyMsg("i"))
	if view := next.View(); !strings.Contains(view, "copied, if the terminal supports it: log-2") {
		t.Error(view)
	}
	cmd()
	if got, want := m.o.Out.(*screenCapture).String(), "\x1b]52;c;bG9nLTI=\a"; got != want {
		t.Errorf("the terminal receives %q", got)
	}
}

func TestCopyingACommandCopiesTheFirstThatIsSuggested(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want string
	}{
		"of the selected row": {nil, "kubectl describe pod sample-storage-3 -n fdb --context prod"},
		"of the open pane":    {[]string{"5", "w"}, "kubectl describe pod sample-storage-3 -n fdb --context prod"},
		"of a plan":           {[]string{"d"}, "kubectl fdb plan sample -n fdb --context prod"},
		"without one":         {[]string{"?"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := pressed(shown(t, 100, 46, Options{}, entry(lost())), tc.keys...)
			next, cmd := m.Update(keyMsg("Y"))
			want := "copied, if the terminal supports it: " + tc.want
			if tc.want == "" {
				want = "nothing to copy"
			}
			if view := next.View(); !strings.Contains(view, want) {
				t.Error(view)
			}
			if cmd != nil {
				cmd()
			}
			clipboard := m.o.Out.(*screenCapture).String()
			if got := tc.want == "" || strings.Contains(clipboard, base64.StdEncoding.EncodeToString([]byte(tc.want))); !got || (tc.want == "") != (clipboard == "") {
				t.Errorf("the terminal receives %q", clipboard)
			}
		})
	}
}

func TestDashboardSortsIDsNumerically(t *testing.T) {
	f := well()
	for i, id := range []string{"storage-10", "storage-9", "log-2", "storage-9b"} {
		f.Groups.Items[i].ID = id
	}
	f.Groups.Items = f.Groups.Items[:4]
	m := pressed(shown(t, 100, 40, Options{}, entry(f)), "o")
	var ids []string
	for _, r := range m.page(m.clusterView()).rows {
		ids = append(ids, r.key)
	}
	if got := strings.Join(ids, " "); got != "log-2 storage-9 storage-10 storage-9b" {
		t.Error(got)
	}
}

func TestDashboardFilterIsAppliedAndCleared(t *testing.T) {
	m := shown(t, 100, 40, Options{}, entry(lost()))
	m = pressed(m, "/", "q", "backspace", "zone-3", "enter")
	if n := len(m.page(m.clusterView()).rows); n != 3 {
		t.Errorf("%d rows are in zone-3", n)
	}
	if view := m.View(); !strings.Contains(view, "only zone-3") {
		t.Errorf("the view does not show that rows are omitted:\n%s", view)
	}
	m = pressed(m, "/", "nothing", "enter")
	if view := m.View(); !strings.Contains(view, "no matching rows; esc shows all") {
		t.Error(view)
	}
	if m = pressed(m, "esc", "esc", "c"); len(m.page(m.clusterView()).rows) != 3 {
		t.Errorf("%d rows have problems", len(m.page(m.clusterView()).rows))
	}
}

// The first row is the worst one; the cursor stays there until the user moves it.
func TestTheCursorStaysOnTopUntilItIsMoved(t *testing.T) {
	m := shown(t, 100, 40, Options{}, entry(well()))
	if m = after(m, entryMsg{Entry: entry(lost())}); m.chosenGroup() != "log-2" {
		t.Errorf("chosen is %s", m.chosenGroup())
	}
}

// Bubble Tea combines keys in quick succession.
func TestCombinedKeyEventsAreHandledOneByOne(t *testing.T) {
	if m := pressed(shown(t, 100, 40, Options{}, entry(lost())), "2jj"); m.view != 1 || m.chosenNode() != "node-1" {
		t.Errorf("view %d, node %s", m.view, m.chosenNode())
	}
	m := pressed(shown(t, 100, 40, Options{}, entry(lost())), ":storage-4", "enter")
	if view := m.View(); !strings.Contains(view, "storage-4 (storage)") {
		t.Error(view)
	}
	pasted := keyMsg("rrq2")
	pasted.Paste = true
	if m = after(m, pasted); m.view != 0 || m.work != nil {
		t.Errorf("pasted text does something: view %d", m.view)
	}
}

// What changes something and what only shows something are not one slip of a finger apart: the
// first are capital letters, and no letter that shows something is a capital, other than G, N, W and Y.
func TestDashboardActionKeysAreCapitalLetters(t *testing.T) {
	harmless := map[string]bool{"ctrl+x": true, "a": true, "G": true, "N": true, "W": true, "Y": true}
	for _, b := range bindings() {
		for _, k := range b.keys {
			capital := len(k) == 1 && k >= "A" && k <= "Z"
			if capital != (b.section == sectionAct) && !harmless[k] {
				t.Errorf("%s of %s: %s", k, b.section, b.does)
			}
		}
	}
}

func TestTheKeyBarShowsTheKeysOfTheCurrentView(t *testing.T) {
	acts := Options{Actions: &acting{}}
	tests := map[string]struct {
		o       Options
		keys    []string
		has     []string
		hasNone []string
	}{
		"a process group":                {acts, nil, []string{"enter more", "w why", "e events", "d plan", "R replace", "X exclude", "C cordon"}, []string{"K keep", "I include", "esc back", "] later"}},
		"one that is being removed":      {acts, []string{":", "storage-1", "enter", "esc"}, []string{"K keep", "I include"}, []string{"R replace", "X exclude"}},
		"a node has no groups":           {acts, []string{"2"}, []string{"C cordon", "P pass"}, []string{"e events", "d plan", "R replace", "z zones"}},
		"a read-only dashboard":          {Options{}, nil, []string{"w why"}, []string{"actions:", "R replace", "P pass"}},
		"the past":                       {acts, []string{"["}, []string{"esc back", "] later"}, []string{"R replace", "P pass"}},
		"a pane":                         {acts, []string{"enter"}, []string{"esc back", "R replace"}, []string{"enter more", "/ filter", "z zones"}},
		"rows in the order of a column":  {acts, []string{"o"}, []string{"v reverse"}, nil},
		"a question has its answer only": {acts, []string{"/"}, nil, []string{"actions:", "w why"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 200, 40, tc.o, entry(well()), entry(lost())), tc.keys...).View()
			lines := strings.Split(view, "\n")
			bar := strings.Join(lines[len(lines)-2:], "\n")
			for _, want := range tc.has {
				if !strings.Contains(bar, want) {
					t.Errorf("no %q in %s", want, bar)
				}
			}
			for _, not := range tc.hasNone {
				if strings.Contains(bar, not) {
					t.Errorf("%q in %s", not, bar)
				}
			}
		})
	}
}

// A node that is not ready has taints, and is not cordoned; a mark for removal is no exclusion.
func TestOnlyWhatWasDoneIsOfferedToBeReverted(t *testing.T) {
	cordoned, removed, excluded := lost(), lost(), lost()
	cordoned.Nodes.Items[2].Unschedulable = new(true)
	removed.Groups.Items[0].Exclusion, removed.Groups.Items[0].RemovalSince = inspect.ExclusionPending, ago(time.Minute)
	unknown := lost()
	unknown.Nodes.Items[2].Unschedulable, unknown.Groups.Items[0].Exclusion = nil, inspect.ExclusionUnknown
	tests := map[string]struct {
		f            *frame.Frame
		keys         []string
		has, hasNone string
	}{
		"a node that is not ready":         {lost(), []string{"2"}, "C cordon", "U uncordon"},
		"one that is cordoned":             {cordoned, []string{"2"}, "U uncordon", "C cordon"},
		"one whose state is unknown":       {unknown, []string{"2"}, "C cordon", "U uncordon"},
		"a process group that is excluded": {excluded, []string{":", "storage-1", "enter"}, "I include", "X exclude"},
		"one that is only marked":          {removed, []string{":", "storage-1", "enter"}, "K keep", "I include"},
		"one whose exclusion is unknown":   {unknown, []string{":", "storage-1", "enter"}, "K keep", "I include"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := pressed(shown(t, 200, 40, Options{Actions: &acting{}}, entry(tc.f)), tc.keys...)
			s := h.clusterView()
			bar := h.here(s, h.page(s)).actionBar().Text()
			if !strings.Contains(bar, tc.has) || strings.Contains(bar, tc.hasNone) {
				t.Errorf("want %q, and not %q: %s", tc.has, tc.hasNone, bar)
			}
		})
	}
}

func TestRowsAreOrderedByAColumn(t *testing.T) {
	f := well()
	f.Groups.Items = f.Groups.Items[:4]
	for i, up := range []*float64{new(120.0), nil, new(9000.0), new(45.0)} {
		f.Groups.Items[i].UptimeSeconds = up
	}
	nodes := lost()
	tests := map[string]struct {
		frame  *frame.Frame
		view   string
		column string
		keys   []string
		want   string
	}{
		"by a number, not by its text":       {f, "1", "UPTIME", nil, "storage-4 storage-1 storage-3 storage-2"},
		"reversed":                           {f, "1", "UPTIME", []string{"v"}, "storage-2 storage-3 storage-1 storage-4"},
		"by the number of an ID":             {f, "1", "ID", []string{"v"}, "storage-4 storage-3 storage-2 storage-1"},
		"another view":                       {nodes, "2", "NODE", nil, "node-1 node-2 node-3 node-4"},
		"kept while another view is shown":   {nodes, "2", "NODE", []string{"v", "1", "2"}, "node-4 node-3 node-2 node-1"},
		"the order of the view, in the end":  {nodes, "2", "", nil, "node-3 node-4 node-1 node-2"},
		"below the headlines of their class": {f, "1", "UPTIME", []string{"z", "z"}, " storage-4 storage-1 storage-3 storage-2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := pressed(shown(t, 200, 40, Options{}, entry(tc.frame)), tc.view, "o")
			for range 20 {
				if m.sorts[m.view].column != tc.column {
					m = pressed(m, "o")
				}
			}
			m = pressed(m, tc.keys...)
			var keys []string
			for _, r := range m.page(m.clusterView()).rows {
				keys = append(keys, r.key)
			}
			if got := strings.Join(keys, " "); got != tc.want {
				t.Error(got)
			}
		})
	}
}

// A preview of the time before a group got its condition does not have what blocks it.
func TestTheWhyPaneIsUnknownWhileThePreviewIsOutdated(t *testing.T) {
	tests := map[string]struct {
		previewed time.Duration
		want      string
	}{
		"before the condition": {3 * time.Minute, "unknown: the state is newer than the preview"},
		"after it":             {20 * time.Second, ", and no action is pending"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := well()
			f.Groups.Items[0].Conditions = []inspect.ConditionView{{Type: "MissingProcesses", Since: ago(time.Minute)}}
			f.Why.AsOf = ago(tc.previewed)
			view := pressed(shown(t, 100, 40, Options{}, entry(f)), "w").View()
			if age := "previewed " + phrase.Duration(tc.previewed) + " ago"; !strings.Contains(view, tc.want) || !strings.Contains(view, age) {
				t.Error(view)
			}
		})
	}
}

// What blocks the cluster is a key away from every view, whatever is selected there.
func TestTheWhyOfTheClusterIsReachableFromEveryView(t *testing.T) {
	for i := range views() {
		m := pressed(shown(t, 100, 40, Options{}, entry(lost())), fmt.Sprint((i+1)%10), "W")
		if view := m.View(); !strings.Contains(view, "What blocks sample") || !strings.Contains(view, "next: kubectl fdb reconcile sample") {
			t.Errorf("view %d:\n%s", i, view)
		}
	}
}

func TestTheWhyOfAProcessGroupHasWhatToDoNext(t *testing.T) {
	view := pressed(shown(t, 100, 40, Options{}, entry(lost())), "w").View()
	if !strings.Contains(view, "next: kubectl describe pod sample-storage-3") {
		t.Error(view)
	}
}

// Users of less and vi press g twice.
func TestPressingGOnceOrTwiceJumpsToTheTop(t *testing.T) {
	m := pressed(overFleet(t, 120, 40), "G")
	once, twice := pressed(m, "g"), pressed(m, "g", "g")
	if first := overFleet(t, 120, 40).View(); once.View() != first || twice.View() != first || m.View() == first {
		t.Errorf("got\n%s", twice.View())
	}
}
