package metrics

import (
	"sync"
	"time"
)

// Silence is how long the loop may show no sign of life. The longest that one thing
// takes without a word is an action: 4 minutes.
const Silence = 10 * time.Minute

// Pulse remembers when the loop last turned, and how its last pass went. It never
// waits for the loop.
type Pulse struct {
	mu     sync.Mutex
	sign   time.Time // the last sign of life, or when the rest that was announced ends
	passed bool      // the last pass did not fail
}

// Beat is a sign of life.
func (p *Pulse) Beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sign = now
}

// Rest announces a rest that ends at a time, after a pass that failed or not.
func (p *Pulse) Rest(until time.Time, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sign, p.passed = until, !failed
}

// alive is when the last sign of life was, and whether it is not too long ago.
func (p *Pulse) alive(now time.Time) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sign, now.Sub(p.sign) <= Silence
}

func (p *Pulse) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}
