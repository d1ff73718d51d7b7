// Package pace decides when the next of many passes begins: how long a watch rests
// after a pass, depending on how that ended, and which changes cut the rest short. It
// is pure: times are handed in, and nothing waits here.
package pace

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Ending is how a pass ended, as far as the rest after it depends on that.
type Ending int

// The endings of a pass.
const (
	Settled    Ending = iota // nothing is left to do
	Unfinished               // it changed something that it has to look at again
	Waiting                  // time will clear what is left
	Held                     // somebody else acts on the cluster now
	Blocked                  // a human has to clear what is left
	Failed                   // something went wrong
)

// The defaults of a watch.
const (
	// DefaultInterval is how long to rest between two passes at least.
	DefaultInterval = 2 * time.Second
	// DefaultResync is how long to rest at most: what no Kubernetes object shows, the
	// database above all, is looked at as often.
	DefaultResync = time.Minute

	// unknownWait is for waits of which nobody can tell how long they last, and
	// heldWait for those that somebody else's run decides. Both are far below the
	// minute in which a Lease runs out.
	unknownWait = 10 * time.Second
	heldWait    = 10 * time.Second
)

// backoff is what passes that fail in a row are spaced by: 2 s, 4 s, … 5 min, each up
// to a fifth longer, so that many watches do not come back at the same moment.
func backoff() *wait.Backoff {
	const steps = 30 // more than it takes to reach the cap
	return &wait.Backoff{Duration: DefaultInterval, Factor: 2, Jitter: 0.2, Steps: steps, Cap: 5 * time.Minute}
}

// Pace remembers how passes went.
type Pace struct {
	// Interval is the least, Resync the most to rest after a pass that did not fail.
	Interval, Resync time.Duration

	failing *wait.Backoff // nil unless the last pass failed
}

// Rest is how long to rest, counted from the end of a pass.
type Rest struct {
	// AtLeast is how long whatever changes; AtMost when nothing changes.
	AtLeast, AtMost time.Duration
	// Mended is what AtLeast becomes when a person changes the resource: that may be
	// the very cure for what a pass failed on.
	Mended time.Duration
}

// After is the rest after a pass that asked for retryAfter; 0 is no wish.
func (p *Pace) After(e Ending, retryAfter time.Duration) Rest {
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

// upTo is a rest that every change cuts short.
func (p *Pace) upTo(most time.Duration) Rest {
	return Rest{AtLeast: p.Interval, AtMost: max(p.Interval, min(most, p.Resync)), Mended: p.Interval}
}

// exactly is a rest that only a change of the resource cuts short.
func (p *Pace) exactly(d time.Duration) Rest {
	d = max(p.Interval, d)
	return Rest{AtLeast: d, AtMost: d, Mended: p.Interval}
}
