package servertime_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/servertime"
)

// machine is a clock that shows what it is set to, and an API server that has the true time.
type machine struct {
	clock.WithTicker
	truth  time.Time
	ahead  time.Duration // how far the clock was set ahead
	asleep time.Duration // of what has passed, what the monotonic clock has missed
	began  time.Time
}

func newMachine(ahead time.Duration) *machine {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return &machine{truth: noon, began: noon, ahead: ahead}
}

func (m *machine) Now() time.Time { return m.truth.Add(m.ahead) }

// Since is monotonic: only what has passed counts, not what the clock was set to.
func (m *machine) Since(time.Time) time.Duration { return m.truth.Sub(m.began) - m.asleep }

// server answers after took, with a header that edit changes.
type server struct {
	machine *machine
	took    time.Duration
	code    int
	edit    func(http.Header)
}

func (s server) RoundTrip(*http.Request) (*http.Response, error) {
	s.machine.truth = s.machine.truth.Add(s.took / 2)
	header := http.Header{"Date": {s.machine.truth.UTC().Format(http.TimeFormat)}}
	if s.edit != nil {
		s.edit(header)
	}
	s.machine.truth = s.machine.truth.Add(s.took - s.took/2)
	return &http.Response{StatusCode: max(s.code, http.StatusOK), Header: header, Body: http.NoBody}, nil
}

func ask(t *testing.T, c *servertime.Clock, s server) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Wrap(s).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAWrongClockShowsTheTimeOfTheAPIServer(t *testing.T) {
	for name, ahead := range map[string]time.Duration{
		"a day ahead": 24 * time.Hour, "six hours behind": -6 * time.Hour, "a minute ahead": time.Minute, "right": 0,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(ahead)
			c := servertime.New(m)
			ask(t, c, server{machine: m, took: 200 * time.Millisecond})
			m.truth = m.truth.Add(3 * time.Hour)
			if off := c.Now().Sub(m.truth).Abs(); off > 1500*time.Millisecond {
				t.Errorf("the clock shows %s, the API server %s", c.Now(), m.truth)
			}
			if since := c.Since(m.truth.Add(-time.Hour)); (since - time.Hour).Abs() > 1500*time.Millisecond {
				t.Errorf("an hour ago was %s ago", since)
			}
			if d := c.Difference(); !d.Known || (d.Ahead-ahead).Abs() > 1500*time.Millisecond {
				t.Errorf("the difference is %+v, want %s", d, ahead)
			}
		})
	}
}

func TestARightClockIsNotAdjusted(t *testing.T) {
	m := newMachine(0)
	c := servertime.New(m)
	for range 20 {
		m.truth = m.truth.Add(333 * time.Millisecond)
		ask(t, c, server{machine: m, took: 70 * time.Millisecond})
	}
	if d := c.Difference(); d.Ahead != 0 {
		t.Errorf("a clock that is right is off by %s", d.Ahead)
	}
}

func TestSettingTheClockDuringARunMovesNothing(t *testing.T) {
	m := newMachine(0)
	c := servertime.New(m)
	ask(t, c, server{machine: m, took: 10 * time.Millisecond})
	m.ahead = 24 * time.Hour
	if off := c.Now().Sub(m.truth).Abs(); off > 1500*time.Millisecond {
		t.Errorf("the clock moved by %s", off)
	}
	if check := c.Difference().Check(); check.OK {
		t.Error("changes are allowed with a clock that was set a day ahead")
	}
	m.ahead = 0
	if check := c.Difference().Check(); !check.OK {
		t.Errorf("changes are refused with a clock that was set right: %s", check.Evidence)
	}
}

func TestAMachineThatSleptShowsTheTimeOfTheNextAnswer(t *testing.T) {
	m := newMachine(0)
	c := servertime.New(m)
	ask(t, c, server{machine: m, took: 10 * time.Millisecond})
	m.truth, m.asleep = m.truth.Add(8*time.Hour), 8*time.Hour
	ask(t, c, server{machine: m, took: 10 * time.Millisecond})
	if off := c.Now().Sub(m.truth).Abs(); off > 1500*time.Millisecond {
		t.Errorf("the clock shows %s, the API server %s", c.Now(), m.truth)
	}
}

func TestAnswersWithoutACurrentTimeAreIgnored(t *testing.T) {
	tests := map[string]server{
		"no Date":               {edit: func(h http.Header) { h.Del("Date") }},
		"a Date that is none":   {edit: func(h http.Header) { h.Set("Date", "yesterday") }},
		"stored by a proxy":     {edit: func(h http.Header) { h.Set("Age", "7200") }},
		"answered by a gateway": {code: http.StatusBadGateway},
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(time.Hour)
			c := servertime.New(m)
			s.machine = m
			ask(t, c, s)
			d := c.Difference()
			if d.Known || !c.Now().Equal(m.Now()) {
				t.Errorf("the time became known: %+v", d)
			}
			if d.Check().OK || d.Warning() == "" {
				t.Error("an unknown time of the API server passes for an equal one")
			}
		})
	}
}

// An answer that took long bounds the difference by as much, and contradicts nothing within.
func TestASlowAnswerNeverInventsADifference(t *testing.T) {
	m := newMachine(0)
	c := servertime.New(m)
	ask(t, c, server{machine: m, took: 4 * time.Minute})
	if d := c.Difference(); d.Ahead != 0 {
		t.Errorf("the difference is %s", d.Ahead)
	}
}

func TestChangesAreRefusedFromThirtySecondsOfDifferenceOn(t *testing.T) {
	tests := map[string]struct {
		facts plan.ClockFacts
		ok    bool
	}{
		"nothing to compare with": {plan.ClockFacts{}, true},
		"an unknown difference":   {plan.ClockFacts{Compared: true}, false},
		"no difference":           {plan.ClockFacts{Compared: true, Known: true}, true},
		"29 s ahead":              {plan.ClockFacts{Compared: true, Known: true, Ahead: 29 * time.Second}, true},
		"30 s ahead":              {plan.ClockFacts{Compared: true, Known: true, Ahead: 30 * time.Second}, false},
		"29 s behind":             {plan.ClockFacts{Compared: true, Known: true, Ahead: -29 * time.Second}, true},
		"30 s behind":             {plan.ClockFacts{Compared: true, Known: true, Ahead: -30 * time.Second}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			check := tc.facts.Check()
			if check.OK != tc.ok || check.Evidence == "" || check.Gate != plan.GateClock {
				t.Errorf("the check is %+v", check)
			}
			if (tc.facts.Warning() == "") != tc.ok {
				t.Errorf("the warning is %q", tc.facts.Warning())
			}
		})
	}
}
