package fdbsim

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// Simulation holds every server and every database of one sandbox, and runs the tools that talk to them. It is safe for
// concurrent use.
type Simulation struct {
	*locked.Simulation
	inner *model.Simulation
}

// NewSimulation returns an empty simulation whose clock stands at opts.Start.
func NewSimulation(opts Options) *Simulation { return Of(locked.New(opts)) }

// Of returns a simulation that runs tools as well.
func Of(w *locked.Simulation) *Simulation { return &Simulation{w, w.Model()} }
