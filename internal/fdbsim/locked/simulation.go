// Package locked is the model behind its lock: servers, the clock, what clients do, and the truth about databases. It
// knows no command lines; package fdbsim adds the tools.
package locked

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

// Simulation holds every server and every database of one sandbox. It is safe for
// concurrent use.
type Simulation struct{ inner *model.Simulation }

// New returns an empty simulation whose clock stands at opts.Start.
func New(opts Options) *Simulation { return &Simulation{model.NewSimulation(opts)} }

// Model is what is behind the lock: whoever uses it takes the lock.
func (w *Simulation) Model() *model.Simulation { return w.inner }

// Run runs a program that connects to its database and does something there. It is killed when ctx ends.
func (w *Simulation) Run(ctx context.Context, p client.Program, do func(*client.Client) error) error {
	w.inner.Lock()
	defer w.inner.Unlock()
	c, err := client.Open(ctx, w.inner, p)
	if err != nil {
		return err
	}
	return do(c)
}

// Now is the current reading of the model's clock.
func (w *Simulation) Now() time.Time {
	w.inner.Lock()
	defer w.inner.Unlock()
	return w.inner.Now
}

// Advance lets d pass: everything due in that time happens in order, and the
// commands that were waiting for it go on.
func (w *Simulation) Advance(d time.Duration) {
	w.inner.Lock()
	defer w.inner.Unlock()
	w.inner.Advance(d)
}

// NextEvent is when the next thing happens by itself, and false when nothing is
// due. Until then it does not change unless a caller changes it.
func (w *Simulation) NextEvent() (time.Time, bool) {
	w.inner.Lock()
	defer w.inner.Unlock()
	return w.inner.NextTimer()
}

// AutoAdvance has a command that waits move the clock itself, which suits
// single-threaded tests.
func (w *Simulation) AutoAdvance() {
	w.inner.Lock()
	defer w.inner.Unlock()
	w.inner.Auto = true
}

// ManualAdvance has a command that waits wait for a call of [Simulation.Advance].
// That is the default.
func (w *Simulation) ManualAdvance() {
	w.inner.Lock()
	defer w.inner.Unlock()
	w.inner.Auto = false
}

// LoseData destroys a data directory. A process that uses it dies with it; one
// that starts later with the same key finds nothing.
func (w *Simulation) LoseData(dataKey string) {
	w.inner.Lock()
	defer w.inner.Unlock()
	w.inner.LoseData(dataKey)
}

// AddBlobStore makes a blob store reachable.
func (w *Simulation) AddBlobStore(s store.BlobStore) {
	w.inner.Lock()
	defer w.inner.Unlock()
	w.inner.Stores.Blob = append(w.inner.Stores.Blob, s)
}
