package commands

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// The rests of a screen between two questions to the same source, where it is not
// --interval that says so.
const (
	eventsInterval  = 15 * time.Second
	previewInterval = 15 * time.Second
	// backupsInterval is longer than that of the database: a tool runs in a pod for each
	// backup, and one for all restores.
	backupsInterval = 20 * time.Second
	// longestBackOff bounds the rest after errors.
	longestBackOff = 30 * time.Second
)

// asking is how it goes to ask one source for facts, again and again.
type asking struct {
	name string
	// every is how long it takes from one question to the next while all is well.
	every time.Duration

	asOf    time.Time // of the last answer; zero before there was one
	askedAt time.Time // since when an answer is awaited; zero when none is
	last    time.Time // when it was asked last
	due     time.Time // when to ask next
	trouble string    // why the last question has no answer
	// failures counts the questions without an answer since the last answer.
	failures int
}

func (a *asking) isDue(now time.Time) bool { return a.askedAt.IsZero() && !now.Before(a.due) }

func (a *asking) begin(now time.Time) { a.askedAt, a.last = now, now }

// end notes an answer that is as of a time, or the trouble that there was none for.
func (a *asking) end(now, asOf time.Time, trouble string) {
	a.askedAt, a.trouble = time.Time{}, trouble
	if trouble == "" {
		a.asOf, a.failures = asOf, 0
		a.due = later(a.last.Add(a.every), now.Add(a.every/4)) // a slow source gets a rest, too
		return
	}
	a.failures++
	a.due = now.Add(a.backOff())
}

// backOff is how long to rest after failures: twice as long after each.
func (a *asking) backOff() time.Duration {
	rest := a.every
	for range a.failures - 1 {
		rest *= 2
		if rest >= longestBackOff {
			break
		}
	}
	return max(a.every, min(rest, longestBackOff))
}

// sooner has the next question asked at a time, if that is before it was to be.
func (a *asking) sooner(at time.Time) {
	if at.Before(a.due) {
		a.due = at
	}
}

// source is what a frame tells of it.
func (a *asking) source() ui.FrameSource {
	return ui.NewFrameSource(a.name, a.asOf, a.askedAt, a.trouble)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
