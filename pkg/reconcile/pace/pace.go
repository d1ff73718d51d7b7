// Package pace decides when the next of many passes begins: how long a watch waits after a pass,
// depending on how that ended, and which changes end the wait early. It is pure: times are
// passed in, and nothing waits here.
package pace

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Ending is how a pass ended, as far as the wait after it depends on that.
type Ending int

// The endings of a pass.
const (
	Settled    Ending = iota // nothing is left to do
	Unfinished               // it changed something that it must read again
	Waiting                  // time will clear what is left
	Held                     // another run is active on the cluster
	Blocked                  // manual intervention is required
	Failed                   // something went wrong
)

// The intervals between passes.
const (
	// DefaultInterval is the minimum interval between two passes.
	DefaultInterval = 2 * time.Second
	// DefaultResync is the maximum interval: what no Kubernetes object shows, the database
	// above all, is read at least as often.
	DefaultResync = time.Minute
	// LongestRest bounds the interval between two passes of a command that waits. What one stage waits for can take
	// ten minutes, while another one could already continue, and not all that matters is an object whose changes are
	// watched. The operator requeues after 15 s for most causes.
	LongestRest = 15 * time.Second

	// unknownWait is for waits of unknown length, and heldWait for those that end with another
	// run. Both are far below the minute in which a Lease expires.
	unknownWait = 10 * time.Second
	heldWait    = 10 * time.Second
)

// backoff is the interval between passes that fail in a row: 2 s, 4 s, … 5 min, each up
// to a fifth longer, so that many watches do not come back at the same moment.
func backoff() *wait.Backoff {
	const steps = 30 // more than it takes to reach the cap
	return &wait.Backoff{Duration: DefaultInterval, Factor: 2, Jitter: 0.2, Steps: steps, Cap: 5 * time.Minute}
}

// Pace remembers how passes ended.
type Pace struct {
	// Interval is the minimum, Resync the maximum wait after a pass that did not fail.
	Interval, Resync time.Duration

	failing *wait.Backoff // nil unless the last pass failed
}

// Wait is how long to wait, counted from the end of a pass.
type Wait struct {
	// AtLeast applies whatever changes; AtMost when nothing changes.
	AtLeast, AtMost time.Duration
	// AfterEdit replaces AtLeast when a user changes the resource: that may fix the cause of a
	// failure.
	AfterEdit time.Duration
}

// After is the wait after a pass with the given retryAfter; 0 means unknown.
func (p *Pace) After(e Ending, retryAfter time.Duration) Wait {
	if e != Failed {
		p.failing = nil
	}
	switch e {
	case Unfinished:
		return p.exactly(p.Interval)
	case Waiting:
		return p.upTo(cmp.Or(retryAfter, unknownWait))
	case Held:
		return p.exactly(heldWait)
	case Failed:
		return p.exactly(p.nextFailure())
	case Settled, Blocked:
	}
	return p.upTo(p.Resync)
}

func (p *Pace) nextFailure() time.Duration {
	if p.failing == nil {
		p.failing = backoff()
	}
	return p.failing.Step()
}

// upTo is a wait that every change ends early.
func (p *Pace) upTo(most time.Duration) Wait {
	return Wait{AtLeast: p.Interval, AtMost: max(p.Interval, min(most, p.Resync)), AfterEdit: p.Interval}
}

// exactly is a wait that only a change of the resource ends early.
func (p *Pace) exactly(d time.Duration) Wait {
	d = max(p.Interval, d)
	return Wait{AtLeast: d, AtMost: d, AfterEdit: p.Interval}
}

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
