package reconcile

import (
	"encoding/json"
	"testing"
	"time"
)

var at = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// draining is a replacement whose data moves.
func draining(left int64, soonest, latest *float64) Replacement {
	return Replacement{ID: "storage-1", LeftBytes: &left, SoonestSeconds: soonest, LatestSeconds: latest, Phases: []Phase{{PhaseDrained, PhaseRunning}}}
}

func TestTheTimeLeftIsThatOfTheMeasuredRate(t *testing.T) {
	waits := Replacement{ID: "storage-2", Phases: []Phase{{PhaseDrained, PhasePending}}}
	blocked := Replacement{ID: "storage-3", Phases: []Phase{{PhaseDrained, PhasePending}}, Blocker: &Blocker{Group: "storage-4"}}
	done := Replacement{ID: "storage-5", Phases: []Phase{{PhaseDrained, PhaseDone}}}
	soon, asked, past := at.Add(12*time.Second), at.Add(-time.Minute), at.Add(-time.Second)
	moves := draining(375<<20, new(70.0), new(90.0))
	for name, c := range map[string]struct {
		given OperationProgress
		want  *TimeLeft
	}{
		"nothing is known":                            {},
		"the forecast, before data moves":             {given: OperationProgress{ExpectedAt: &soon, Replacements: []Replacement{waits}}, want: &TimeLeft{Soonest: 12 * time.Second, Latest: 12 * time.Second}},
		"a forecast that has passed":                  {given: OperationProgress{ExpectedAt: &past}},
		"the measured rate, whatever the forecast is": {given: OperationProgress{ExpectedAt: &soon, Replacements: []Replacement{moves}}, want: &TimeLeft{Soonest: 70 * time.Second, Latest: 90 * time.Second, Measured: true}},
		"no measured rate yet, and no forecast then":  {given: OperationProgress{ExpectedAt: &soon, Replacements: []Replacement{draining(375<<20, nil, nil)}}},
		"one of two has no measured rate yet":         {given: OperationProgress{Replacements: []Replacement{moves, draining(1<<20, nil, nil)}}},
		"one of two has no data left":                 {given: OperationProgress{Replacements: []Replacement{moves, draining(0, nil, nil)}}, want: &TimeLeft{Soonest: 70 * time.Second, Latest: 90 * time.Second, Measured: true}},
		"the slowest of two":                          {given: OperationProgress{Replacements: []Replacement{moves, draining(1<<30, new(80.0), new(200.0))}}, want: &TimeLeft{Soonest: 80 * time.Second, Latest: 200 * time.Second, Measured: true}},
		"a rate that may be nothing":                  {given: OperationProgress{Replacements: []Replacement{draining(375<<20, new(70.0), nil)}}, want: &TimeLeft{Soonest: 70 * time.Second, Measured: true}},
		"another one drains after it":                 {given: OperationProgress{Replacements: []Replacement{moves, waits}, ReplacementsTotal: 2}, want: &TimeLeft{Soonest: 70 * time.Second, Measured: true}},
		"another target is not marked yet":            {given: OperationProgress{Replacements: []Replacement{moves}, ReplacementsTotal: 1, Targets: 3, Reached: 1}, want: &TimeLeft{Soonest: 70 * time.Second, Measured: true}},
		"another one is drained":                      {given: OperationProgress{Replacements: []Replacement{moves, done}, ReplacementsTotal: 2}, want: &TimeLeft{Soonest: 70 * time.Second, Latest: 90 * time.Second, Measured: true}},
		"a successor does not start":                  {given: OperationProgress{ExpectedAt: &soon, Replacements: []Replacement{blocked}}},
		"its user has not answered":                   {given: OperationProgress{ExpectedAt: &soon, AskedAt: &asked, Replacements: []Replacement{moves}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := c.given.TimeLeft(at)
			switch {
			case known != (c.want != nil):
				t.Errorf("known: %t, %+v", known, got)
			case known && got != *c.want:
				t.Errorf("%+v, want %+v", got, *c.want)
			}
		})
	}
}

// What was stored and read again is not news: nothing is written for it.
func TestProgressIsEqualToItsStoredForm(t *testing.T) {
	asked := at
	p := OperationProgress{
		Passes: 1, HoldSubjects: []string{"storage-1"}, AskedAt: &asked, FullyReplicated: new(true), Zones: new(1),
		Replacements: []Replacement{draining(375<<20, new(70.25), new(1.0/3))}, ReplacementsTotal: 1,
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var stored OperationProgress
	if err := json.Unmarshal(text, &stored); err != nil || !stored.Equal(p) {
		t.Errorf("%v: %s", err, text)
	}
	stored.Replacements[0].LeftBytes = new(int64(1))
	if stored.Equal(p) {
		t.Error("less data left is no news")
	}
}
