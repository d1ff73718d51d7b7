package metrics

import (
	"sync"
	"time"
)

// SilenceLimit is how long the loop may show no sign of life. The longest operation without one
// is an action: 4 minutes.
const SilenceLimit = 10 * time.Minute

// Liveness has the last sign of life of the loop, and whether its last pass failed. It never
// waits for the loop.
type Liveness struct {
	mu       sync.Mutex
	lastBeat time.Time // the last sign of life, or the end of the announced wait
	passed   bool      // the last pass did not fail
}

// Beat is a sign of life.
func (p *Liveness) Beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastBeat = now
}

// Wait announces a wait that ends at a time, after a pass that did not fail.
func (p *Liveness) Wait(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastBeat, p.passed = until, true
}

// RestAfterFailure announces a wait that ends at a time, after a pass that failed.
func (p *Liveness) RestAfterFailure(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastBeat, p.passed = until, false
}

// alive returns the last sign of life, and whether it is recent enough.
func (p *Liveness) alive(now time.Time) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastBeat, now.Sub(p.lastBeat) <= SilenceLimit
}

func (p *Liveness) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}
