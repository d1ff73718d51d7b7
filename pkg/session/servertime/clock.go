// Package servertime is a clock that shows the time of the API server, whatever the clock of this
// machine shows. Timestamps that several runs compare, of marks, locks and Leases, come from one
// clock then.
package servertime

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Clock shows the time of the API server as far as its answers report it, and before the first one
// that of this machine. Between two answers it advances with the monotonic clock, so that setting
// the clock of this machine does not move it. Timers are those of this machine.
type Clock struct {
	clock.WithTicker

	began time.Time // when the clock was made, with its monotonic reading

	mu     sync.Mutex
	offset time.Duration // from began plus what has passed since to the time of the API server
	known  bool          // an answer had a time
}

// New returns a clock over that of this machine.
func New(local clock.WithTicker) *Clock { return &Clock{WithTicker: local, began: local.Now()} }

// Now returns the time of the API server.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed().Add(c.offset)
}

// Since returns the time that has passed since t, which Now returned or the API server wrote.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Difference returns how far the clock of this machine is ahead of the API server's now.
func (c *Clock) Difference() plan.ClockFacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return plan.ClockFacts{Compared: true}
	}
	wall := c.WithTicker.Now().Round(0) // without the monotonic reading: what the clock shows
	return plan.ClockFacts{Compared: true, Known: true, Ahead: wall.Sub(c.elapsed().Add(c.offset))}
}

// elapsed returns the time of this machine as it would be if its clock had not been set since began.
func (c *Clock) elapsed() time.Time {
	return c.began.Round(0).Add(c.WithTicker.Since(c.began))
}

// Wrap returns a transport that reads the time of every answer.
func (c *Clock) Wrap(next http.RoundTripper) http.RoundTripper { return &reader{c, next} }

// answered narrows the offset by an answer. Its Date was current at some moment between request and
// answer, and lasts a second. An offset that agrees is kept: one answer contradicts a clock that is
// right by less than the time that the request took.
func (c *Clock) answered(sent, received, date time.Time) {
	lowest, highest := date.Sub(received), date.Add(dateResolution).Sub(sent)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.offset = true, min(max(c.offset, lowest), highest)
}

// dateResolution is the resolution of the header Date.
const dateResolution = time.Second

// reader reads the time of answers.
type reader struct {
	clock *Clock
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *reader) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := r.clock.local()
	answer, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if date, current := dateOf(answer); current {
		r.clock.answered(sent, r.clock.local(), date)
	}
	return answer, nil
}

// WrappedRoundTripper returns the transport below, which client-go configures.
func (r *reader) WrappedRoundTripper() http.RoundTripper { return r.next }

func (c *Clock) local() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed()
}

// dateOf returns when the API server answered. An answer with an Age was stored by a proxy, and one
// with a code above 500 may be that of a proxy alone.
func dateOf(answer *http.Response) (date time.Time, current bool) {
	if answer.Header.Get("Age") != "" || answer.StatusCode > http.StatusInternalServerError {
		return time.Time{}, false
	}
	date, err := http.ParseTime(answer.Header.Get("Date"))
	return date, err == nil
}
