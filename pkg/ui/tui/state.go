package tui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// state is the data of a cluster at one point in time. It is a value: the result of apply
// shares only immutable data with its receiver.
type state struct {
	// at is the time of the last entry; zero before the first.
	at time.Time
	// frame is the last frame; nil before the first. It is immutable.
	frame *frame.Frame
	pass  pass
}

// apply returns the state after an entry.
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
