package monitor

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// The intervals of the dashboard between two queries of one source that do not depend on
// --interval.
const (
	eventsInterval  = 15 * time.Second
	previewInterval = 15 * time.Second
	// backupsInterval exceeds that of the database: each query runs a tool in a pod per backup,
	// and one for all restores.
	backupsInterval = 20 * time.Second
	// LongestBackOff bounds the backoff after errors.
	LongestBackOff = 30 * time.Second
)

// SourceState is the state of one source of facts that is polled continuously.
type SourceState struct {
	name string
	// every is the interval between queries without errors.
	every time.Duration

	asOf      time.Time // of the last answer; zero before the first
	queriedAt time.Time // start of the pending query; zero if none
	last      time.Time // start of the last query
	due       time.Time // start of the next query
	problem   string    // why the last query failed
	// unauthorized is whether that was because of the credentials.
	unauthorized bool
	// took is how long the last answer took.
	took time.Duration
	// failures counts failed queries since the last answer.
	failures int
}

// slowAPIServer is how long a read of Kubernetes takes of an API server that is slow.
const slowAPIServer = 3 * time.Second

// isSlow reports whether the pending query waits, or the last one waited, for a slow API server.
func (a *SourceState) isSlow(now time.Time) bool {
	return a.took >= slowAPIServer || !a.queriedAt.IsZero() && now.Sub(a.queriedAt) >= slowAPIServer
}

func (a *SourceState) isDue(now time.Time) bool { return a.queriedAt.IsZero() && !now.Before(a.due) }

func (a *SourceState) Begin(now time.Time) { a.queriedAt, a.last = now, now }

// end records an answer as of a time, or the error instead of one.
func (a *SourceState) end(now, asOf time.Time, problem string) {
	a.queriedAt, a.problem, a.took, a.unauthorized = time.Time{}, problem, now.Sub(a.last), false
	if problem == "" {
		a.asOf, a.failures = asOf, 0
		a.due = later(a.last.Add(a.every), now.Add(a.every/4)) // also spaces the queries of a slow source
		return
	}
	a.failures++
	a.due = now.Add(a.backOff())
}

// backOff returns the interval after failures, which doubles with each.
func (a *SourceState) backOff() time.Duration {
	interval := a.every
	for range a.failures - 1 {
		interval *= 2
		if interval >= LongestBackOff {
			break
		}
	}
	return max(a.every, min(interval, LongestBackOff))
}

// sooner brings the next query forward to a time.
func (a *SourceState) sooner(at time.Time) {
	if at.Before(a.due) {
		a.due = at
	}
}

// source returns the source as a frame shows it.
func (a *SourceState) source() frame.Source {
	return frame.NewSource(a.name, a.asOf, a.queriedAt, a.problem)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
