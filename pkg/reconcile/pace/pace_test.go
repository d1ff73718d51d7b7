package pace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheIntervalAfterAPassDependsOnItsOutcome(t *testing.T) {
	const interval, resync = 2 * time.Second, time.Minute
	tests := map[string]struct {
		ending     Ending
		retryAfter time.Duration
		want       Wait
	}{
		"nothing is left: until something changes, or the resync":     {Settled, 0, Wait{interval, resync, interval}},
		"it changed something: look again at once":                    {Unfinished, 0, Wait{interval, interval, interval}},
		"it waits: as long as it asked for":                           {Waiting, 20 * time.Second, Wait{interval, 20 * time.Second, interval}},
		"it waits for less than the interval":                         {Waiting, time.Second, Wait{interval, interval, interval}},
		"it waits for longer than the resync":                         {Waiting, time.Hour, Wait{interval, resync, interval}},
		"it waits, for an unknown time":                               {Waiting, 0, Wait{interval, unknownWait, interval}},
		"another user acts: changes are theirs and wake no pass":      {Held, 0, Wait{heldWait, heldWait, interval}},
		"a human has to help: until something changes, or the resync": {Blocked, 0, Wait{interval, resync, interval}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := &Pace{Interval: interval, Resync: resync}
			if diff := cmp.Diff(tc.want, p.After(tc.ending, tc.retryAfter)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepeatedFailuresBackOffExponentially(t *testing.T) {
	const most = 5 * time.Minute
	p := &Pace{Interval: time.Second, Resync: time.Minute}
	base := DefaultInterval
	for n := range 12 {
		got := p.After(Failed, time.Hour)
		if got.AtLeast < base || got.AtLeast > base+base/5 || got.AtMost != got.AtLeast || got.AfterEdit != time.Second {
			t.Errorf("failure %d: %+v, want %s and up to a fifth more", n+1, got, base)
		}
		base = min(2*base, most)
	}
	p.After(Waiting, 0)
	if got := p.After(Failed, 0).AtLeast; got >= 2*DefaultInterval {
		t.Errorf("the first failure after a pass that did not fail rests for %s", got)
	}
}

func TestFailedPassesRetryNoSoonerThanTheInterval(t *testing.T) {
	p := &Pace{Interval: 30 * time.Second, Resync: time.Minute}
	if got := p.After(Failed, 0).AtLeast; got != 30*time.Second {
		t.Errorf("rests for %s", got)
	}
}

func TestTheIntervalBetweenPassesEndsOnChanges(t *testing.T) {
	type change struct {
		at        time.Duration
		afterEdit bool
	}
	settled := Wait{AtLeast: 2 * time.Second, AtMost: time.Minute, AfterEdit: 2 * time.Second}
	failed := Wait{AtLeast: 40 * time.Second, AtMost: 40 * time.Second, AfterEdit: 2 * time.Second}
	tests := map[string]struct {
		rest    Wait
		changes []change
		want    time.Duration
		woken   bool
	}{
		"nothing changes":                                   {rest: settled, want: time.Minute},
		"one change":                                        {rest: settled, changes: []change{{at: 10 * time.Second}}, want: 11 * time.Second, woken: true},
		"a change while the pass still ran":                 {rest: settled, changes: []change{{at: 0}}, want: 2 * time.Second, woken: true},
		"a burst is one change":                             {rest: settled, changes: []change{{at: 10 * time.Second}, {at: 10500 * time.Millisecond}, {at: 11 * time.Second}}, want: 12 * time.Second, woken: true},
		"a burst without an end":                            {rest: settled, changes: []change{{at: 10 * time.Second}, {at: 10900 * time.Millisecond}, {at: 14900 * time.Millisecond}}, want: 15 * time.Second, woken: true},
		"a change right before time is up":                  {rest: settled, changes: []change{{at: 59500 * time.Millisecond}}, want: time.Minute},
		"a failure: what happens to pods does not hurry it": {rest: failed, changes: []change{{at: time.Second}}, want: 40 * time.Second},
		"a failure: a changed resource may fix it":          {rest: failed, changes: []change{{at: 10 * time.Second, afterEdit: true}}, want: 11 * time.Second, woken: true},
		"a failure: fixed, then pods change":                {rest: failed, changes: []change{{at: 10 * time.Second, afterEdit: true}, {at: 10500 * time.Millisecond}}, want: 11500 * time.Millisecond, woken: true},
	}
	start := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := NewAlarm(start, tc.rest)
			for _, c := range tc.changes {
				a.Changed(start.Add(c.at), c.afterEdit)
			}
			if got := a.Due().Sub(start); got != tc.want || a.Woken() != tc.woken {
				t.Errorf("over after %s, woken %t; want %s, %t", got, a.Woken(), tc.want, tc.woken)
			}
		})
	}
}
