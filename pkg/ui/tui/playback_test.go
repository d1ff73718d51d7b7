package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// looks are frames ten seconds apart until noon, each of which says which it is.
func looks(n int) []Entry {
	var entries []Entry
	for i := range n {
		f := well()
		f.Status.Summary = fmt.Sprintf("look %d", i+1)
		entries = append(entries, Entry{At: noon.Add(time.Duration(i-n+1) * 10 * time.Second), Cluster: "sample", Frame: f})
	}
	return entries
}

func TestTimeOnTheScreen(t *testing.T) {
	tests := map[string]struct {
		keys  []string
		shows []string
	}{
		"now":                          {nil, []string{"look 5", "12:00:00Z"}},
		"one back":                     {[]string{"["}, []string{"look 4", "11:59:50Z", "LOOKING BACK 4/5"}},
		"two back and one on":          {[]string{"[", "[", "]"}, []string{"look 4", "LOOKING BACK 4/5"}},
		"on past the last one is now":  {[]string{"[", "]", "]"}, []string{"look 5", "12:00:00Z"}},
		"before the first is nothing":  {[]string{"[", "[", "[", "[", "["}, []string{"look 1", "nothing was seen before"}},
		"esc returns to now":           {[]string{"[", "[", "esc"}, []string{"look 5", "READ-ONLY"}},
		"paused":                       {[]string{"p"}, []string{"look 5", "PAUSED"}},
		"paused, then one back":        {[]string{"p", "["}, []string{"look 4", "LOOKING BACK 4/5"}},
		"paused twice goes on":         {[]string{"p", "p"}, []string{"look 5", "  READ-ONLY"}},
		"the other cluster knows none": {[]string{"n"}, []string{"fdb/other", "nothing is known yet"}},
		"there is nothing to act on":   {[]string{"n", "enter"}, []string{"there is nothing to choose here"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			view := pressed(shown(t, 100, 24, Options{}, looks(5)...), tc.keys...).View()
			for _, want := range tc.shows {
				if !strings.Contains(view, want) {
					t.Errorf("no %q in\n%s", want, view)
				}
			}
		})
	}
}

func TestAPausedScreenStandsStillAndItsSourcesAge(t *testing.T) {
	m := pressed(shown(t, 100, 24, Options{}, looks(2)...), "p")
	f := lost()
	m = after(m, told{Entry: Entry{At: noon.Add(20 * time.Second), Cluster: "sample", Frame: f}})
	m = after(m, ticks{noon.Add(30 * time.Second)})
	view := m.View()
	for _, want := range []string{"look 2", "PAUSED", "kubernetes 32s", "! database 33s"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if view := pressed(m, "p").View(); !strings.Contains(view, "Degraded: zone-3") {
		t.Errorf("it does not go on:\n%s", view)
	}
}

func TestWhatTheDatabaseDoesNotTellIsNotCalledWell(t *testing.T) {
	f := well()
	for i := range f.Groups.Items {
		f.Groups.Items[i].Processes = nil
	}
	view := shown(t, 100, 40, Options{}, entry(f)).View()
	if !strings.Contains(view, "0 with trouble, 12 unknown") || strings.Contains(view, "✓  log") || !strings.Contains(view, "?  log-1") {
		t.Error(view)
	}
}

// Sources of a feed that hangs grow old on the screen without any entry.
func TestSourcesAgeByTheClockAlone(t *testing.T) {
	m := shown(t, 100, 24, Options{}, looks(1)...)
	m = after(m, ticks{noon.Add(5 * time.Minute)})
	if view := m.View(); !strings.Contains(view, "! kubernetes 5m") || !strings.Contains(view, "! database 5m") {
		t.Error(view)
	}
}

func TestARecordingPlaysAtItsOwnPace(t *testing.T) {
	m := shown(t, 100, 24, Options{Replay: looks(4)})
	at := func(past time.Duration, want ...string) {
		t.Helper()
		m = after(m, ticks{noon.Add(past)})
		for _, text := range want {
			if view := m.View(); !strings.Contains(view, text) {
				t.Errorf("after %s no %q in\n%s", past, text, view)
			}
		}
	}
	at(0, "look 1", "REPLAY 1/4", "11:59:30Z")
	at(2*time.Second, "look 1", "11:59:32Z")
	at(5*time.Second, "look 2", "REPLAY 2/4") // no gap of a recording is waited for longer
	m = pressed(m, "p")
	at(60*time.Second, "look 2", "REPLAY STOPPED 2/4")
	m = pressed(m, "]", "]")
	at(61*time.Second, "look 4", "REPLAY STOPPED 4/4")
	m = pressed(m, "]")
	at(61*time.Second, "the recording ends here")
	m = pressed(m, "p")
	at(62*time.Second, "look 1", "REPLAY 1/4")
	at(90*time.Second, "look 4", "REPLAY STOPPED 4/4")
}
