package tui

import (
	"strings"
	"testing"
	"time"
)

func TestShotsAreWhatAReplayShows(t *testing.T) {
	o := Options{Replay: frames(3), Now: func() time.Time { return noon.Add(time.Hour) }, Context: "prod", Namespace: "fdb"}
	all, err := Shots(o, 100, 24, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d shots, want one of each of 3 frames", len(all))
	}
	for i, want := range []string{"frame 1", "frame 2", "frame 3"} {
		if !strings.Contains(all[i].Screen, want) || !all[i].At.Equal(o.Replay[i].At) {
			t.Errorf("shot %d at %s has no %q:\n%s", i, all[i].At, want, all[i].Screen)
		}
	}
	for _, s := range all {
		if n := strings.Count(s.Screen, "\n") + 1; n > 24 {
			t.Errorf("a shot has %d lines of 24", n)
		}
	}
}

func TestShotsShowWhatKeysOpen(t *testing.T) {
	o := Options{Replay: frames(2), Now: func() time.Time { return noon }}
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"a view":         {[]string{"2"}, "[2 nodes]"},
		"help":           {[]string{"?"}, "the next cluster"},
		"help of a view": {[]string{"4", "?"}, "the next cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Shots(o, 100, 40, tc.keys)
			if err != nil || !strings.Contains(all[len(all)-1].Screen, tc.want) {
				t.Errorf("no %q: %v\n%s", tc.want, err, all[len(all)-1].Screen)
			}
		})
	}
	if _, err := Shots(o, 100, 40, []string{"f13"}); err == nil {
		t.Error("an unknown key is no error")
	}
}
