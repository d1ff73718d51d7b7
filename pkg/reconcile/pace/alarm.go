package pace

import "time"

// Changes come in bursts: a Deployment's worth of pods, a spec saved three times. The
// next pass waits until nothing has changed for settleTime, but not longer than burst.
const (
	settleTime = time.Second
	burst      = 5 * time.Second
)

// Timer computes when a wait between passes is over.
type Timer struct {
	wait    Wait
	start   time.Time
	due     time.Time
	first   time.Time // when the burst of changes began; zero before any
	soonest time.Time // no change ends the wait before
}

// NewAlarm returns the Timer of a wait that begins at start.
func NewAlarm(start time.Time, w Wait) *Timer {
	return &Timer{wait: w, start: start, due: start.Add(w.AtMost), soonest: start.Add(w.AtLeast)}
}

// Due is when the wait is over, as far as is known now.
func (a *Timer) Due() time.Time { return a.due }

// Woken reports whether a change, and not time alone, decides when the wait is over.
func (a *Timer) Woken() bool { return a.due.Before(a.start.Add(a.wait.AtMost)) }

// Changed records a change. ofResource is true when the resource itself was changed.
func (a *Timer) Changed(now time.Time, ofResource bool) {
	if a.first.IsZero() {
		a.first = now
	}
	if ofResource {
		a.soonest = earlier(a.soonest, a.start.Add(a.wait.AfterEdit))
	}
	due := earlier(now.Add(settleTime), a.first.Add(burst))
	a.due = earlier(a.start.Add(a.wait.AtMost), later(due, a.soonest))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
