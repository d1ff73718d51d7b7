package fdbsim

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

// after runs f once d has passed. It needs the world's lock, as everything
// below does.
func (w *World) after(d time.Duration, f func()) {
	w.timerSeq++
	heap.Push(&w.timers, timer{at: w.now.Add(d), seq: w.timerSeq, run: f})
}

func (w *World) advanceTo(target time.Time) {
	for len(w.timers) > 0 && !w.timers[0].at.After(target) {
		next := heap.Pop(&w.timers).(timer)
		if next.at.After(w.now) {
			w.now = next.at
		}
		next.run()
	}
	if target.After(w.now) {
		w.now = target
	}
	w.wake()
}

// wake tells the waiting commands to look again.
func (w *World) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// patience bounds how far a waiting command drives the clock by itself: a real
// command without a limit would hang for ever, and so does this one, but
// without running the clock for ever.
const patience = time.Hour

// wait blocks until cond holds, the clock reads until (zero: never), or ctx
// ends, and reports whether cond held. A nil cond never holds.
func (w *World) wait(ctx context.Context, until time.Time, cond func() bool) bool {
	started := w.now
	for {
		if cond != nil && cond() {
			return true
		}
		if ctx.Err() != nil || (!until.IsZero() && !w.now.Before(until)) {
			return false
		}
		if w.auto && w.now.Sub(started) < patience {
			w.advanceTo(w.nextInstant(until))
			continue
		}
		w.sleepUntilChange(ctx)
	}
}

// nextInstant is the next moment at which anything can change.
func (w *World) nextInstant(until time.Time) time.Time {
	next := w.now.Add(patience)
	if len(w.timers) > 0 && w.timers[0].at.Before(next) {
		next = w.timers[0].at
	}
	if !until.IsZero() && until.Before(next) {
		next = until
	}
	return next
}

func (w *World) sleepUntilChange(ctx context.Context) {
	changed := w.changed
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}
