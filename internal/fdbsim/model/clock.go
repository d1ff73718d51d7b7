package model

import (
	"container/heap"
	"context"
	"time"
)

// timer is something due at an instant. Timers of one instant run in the order
// in which they were set.
type timer struct {
	at  time.Time
	seq uint64
	run func()
}

type timerQueue []timer

func (q timerQueue) Len() int      { return len(q) }
func (q timerQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *timerQueue) Push(x any)   { *q = append(*q, x.(timer)) }

func (q timerQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}

func (q *timerQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// After runs f once d has passed. It requires the [Simulation]'s lock, as
// everything below does.
func (w *Simulation) After(d time.Duration, f func()) {
	w.timerSeq++
	heap.Push(&w.timers, timer{at: w.Now.Add(d), seq: w.timerSeq, run: f})
}

// pending are the instants for which something is set to run once, however often it is requested.
type pending map[time.Time]bool

// afterOnce runs f once d has passed, unless p has it for that instant already.
func (w *Simulation) afterOnce(p *pending, d time.Duration, f func()) {
	at := w.Now.Add(d)
	if (*p)[at] {
		return
	}
	if *p == nil {
		*p = pending{}
	}
	(*p)[at] = true
	w.After(d, func() {
		delete(*p, at)
		f()
	})
}

// Advance lets d pass.
func (w *Simulation) Advance(d time.Duration) { w.advanceTo(w.Now.Add(d)) }

// NextTimer is when the next timer runs, and false when there is none.
func (w *Simulation) NextTimer() (time.Time, bool) {
	if len(w.timers) == 0 {
		return time.Time{}, false
	}
	return w.timers[0].at, true
}

func (w *Simulation) advanceTo(target time.Time) {
	for len(w.timers) > 0 && !w.timers[0].at.After(target) {
		next := heap.Pop(&w.timers).(timer)
		if next.at.After(w.Now) {
			w.Now = next.at
		}
		next.run()
	}
	if target.After(w.Now) {
		w.Now = target
	}
	w.Wake()
}

// Wake makes the waiting commands check again.
func (w *Simulation) Wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// longestWait bounds how far a waiting command drives the clock by itself: a real
// command without a limit would hang forever, and so does this one, but
// without running the clock forever.
const longestWait = time.Hour

// Wait blocks until cond holds, the clock reads until (zero: never), or ctx
// ends, and reports whether cond held. A nil cond never holds.
func (w *Simulation) Wait(ctx context.Context, until time.Time, cond func() bool) bool {
	started := w.Now
	for {
		if cond != nil && cond() {
			return true
		}
		if ctx.Err() != nil || (!until.IsZero() && !w.Now.Before(until)) {
			return false
		}
		if w.Auto && w.Now.Sub(started) < longestWait {
			w.advanceTo(w.nextInstant(until))
			continue
		}
		w.sleepUntilChange(ctx)
	}
}

// nextInstant is the next moment at which anything can change.
func (w *Simulation) nextInstant(until time.Time) time.Time {
	next := w.Now.Add(longestWait)
	if len(w.timers) > 0 && w.timers[0].at.Before(next) {
		next = w.timers[0].at
	}
	if !until.IsZero() && until.Before(next) {
		next = until
	}
	return next
}

func (w *Simulation) sleepUntilChange(ctx context.Context) {
	changed := w.changed
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}
