package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// frames returns numbered frames, ten seconds apart until noon.
func frames(n int) []Entry {
	var entries []Entry
	for i := range n {
		f := well()
		f.Status.Summary = fmt.Sprintf("frame %d", i+1)
		entries = append(entries, Entry{At: noon.Add(time.Duration(i-n+1) * 10 * time.Second), Cluster: "sample", Frame: f})
	}
	return entries
}

func TestTheDashboardNavigatesThroughItsHistory(t *testing.T) {
	tests := map[string]struct {
		keys  []string
		shows []string
	}{
		"now":                        {nil, []string{"frame 5", "12:00:00Z"}},
		"one back":                   {[]string{"["}, []string{"frame 4", "11:59:50Z", "HISTORY 4/5"}},
		"two back and one on":        {[]string{"[", "[", "]"}, []string{"frame 4", "HISTORY 4/5"}},
		"past the last one is live":  {[]string{"[", "]", "]"}, []string{"frame 5", "12:00:00Z"}},
		"nothing before the first":   {[]string{"[", "[", "[", "[", "["}, []string{"frame 1", "no earlier snapshot"}},
		"esc returns to live data":   {[]string{"[", "[", "esc"}, []string{"frame 5", "READ-ONLY"}},
		"paused":                     {[]string{"p"}, []string{"frame 5", "PAUSED"}},
		"paused, then one back":      {[]string{"p", "["}, []string{"frame 4", "HISTORY 4/5"}},
		"paused twice resumes":       {[]string{"p", "p"}, []string{"frame 5", "  READ-ONLY"}},
		"the other cluster has none": {[]string{"tab"}, []string{"fdb/other", "no data yet"}},
		"nothing to act on":          {[]string{"tab", "enter"}, []string{"nothing to select here"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 100, 24, Options{}, frames(5)...), tc.keys...).View()
			for _, want := range tc.shows {
				if !strings.Contains(view, want) {
					t.Errorf("no %q in\n%s", want, view)
				}
			}
		})
	}
}

func TestTheDashboardMarksWhereAnotherClusterOfTheSameNameBegins(t *testing.T) {
	const words = "another cluster of the same name from here"
	tests := map[string]struct {
		uids []string
		want []bool
	}{
		"the same cluster":                  {[]string{"a", "a", "a"}, []bool{false, false, false}},
		"another one from the second frame": {[]string{"a", "b", "b"}, []bool{false, true, true}},
		"unknown in between":                {[]string{"a", "", "b"}, []bool{false, false, true}},
		"a recording of an older release":   {[]string{"", "", ""}, []bool{false, false, false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			entries := frames(len(tc.uids))
			for i := range entries {
				entries[i].Frame.UID = tc.uids[i]
			}
			m := pressed(shown(t, 120, 24, Options{Replay: entries}), "p")
			for i, want := range tc.want {
				if view := m.View(); strings.Contains(view, words) != want {
					t.Errorf("frame %d, want it marked: %t\n%s", i+1, want, view)
				}
				m = pressed(m, "]")
			}
		})
	}
}

func TestAPausedDashboardFreezesWhileItsSourceAgesIncrease(t *testing.T) {
	m := pressed(shown(t, 100, 24, Options{}, frames(2)...), "p")
	f := lost()
	m = after(m, entryMsg{Entry: Entry{At: noon.Add(20 * time.Second), Cluster: "sample", Frame: f}})
	m = after(m, tickMsg{noon.Add(30 * time.Second)})
	view := m.View()
	for _, want := range []string{"frame 2", "PAUSED", "kubernetes 32s", "! database 33s"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if view := pressed(m, "p").View(); !strings.Contains(view, "Degraded: zone-3") {
		t.Errorf("it does not resume:\n%s", view)
	}
}

func TestGroupsWithUnknownProcessesAreNotShownAsHealthy(t *testing.T) {
	f := well()
	for i := range f.Groups.Items {
		f.Groups.Items[i].Processes = nil
	}
	view := shown(t, 100, 40, Options{}, entry(f)).View()
	if !strings.Contains(view, "12 process groups, 12 unknown") || strings.Contains(view, "0 with problems") || strings.Contains(view, "✓  log") || !strings.Contains(view, "?  log-1") {
		t.Error(view)
	}
}

// Displayed ages advance without any entry.
func TestDashboardDataAgesWithoutNewEntries(t *testing.T) {
	m := shown(t, 100, 24, Options{}, frames(1)...)
	m = after(m, tickMsg{noon.Add(5 * time.Minute)})
	if view := m.View(); !strings.Contains(view, "! kubernetes 5m") || !strings.Contains(view, "! database 5m") {
		t.Error(view)
	}
}

func TestAReplayFollowsRecordedTimesAndCanPauseAndStep(t *testing.T) {
	m := shown(t, 100, 24, Options{Replay: frames(4)})
	at := func(past time.Duration, want ...string) {
		t.Helper()
		m = after(m, tickMsg{noon.Add(past)})
		for _, text := range want {
			if view := m.View(); !strings.Contains(view, text) {
				t.Errorf("after %s no %q in\n%s", past, text, view)
			}
		}
	}
	at(0, "frame 1", "REPLAY 1/4", "11:59:30Z")
	at(2*time.Second, "frame 1", "11:59:32Z")
	at(5*time.Second, "frame 2", "REPLAY 2/4") // the maximum wait at a gap
	m = pressed(m, "p")
	at(60*time.Second, "frame 2", "REPLAY STOPPED 2/4")
	m = pressed(m, "]", "]")
	at(61*time.Second, "frame 4", "REPLAY STOPPED 4/4")
	m = pressed(m, "]")
	at(61*time.Second, "end of the recording")
	m = pressed(m, "p")
	at(62*time.Second, "frame 1", "REPLAY 1/4")
	at(90*time.Second, "frame 4", "REPLAY STOPPED 4/4")
}
