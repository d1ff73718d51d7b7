package tui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// state is what is known of a cluster at one moment. It is a value: what apply returns
// shares with what it was called on only what nobody changes.
type state struct {
	// at is when the last entry was told; zero before the first.
	at time.Time
	// frame is the last look; nil before the first. Nobody changes it.
	frame *ui.Frame
	pass  pass
}

// apply is the state once an entry was told.
func (s state) apply(e Entry) state {
	s.at = e.At
	if e.Frame != nil {
		s.frame = e.Frame
	}
	if len(e.Pass) > 0 {
		s.pass = s.pass.apply(e.At, e.Pass)
	}
	return s
}
