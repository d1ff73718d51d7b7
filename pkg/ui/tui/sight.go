package tui

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// sight is what a view sees: a state, the time on its clock, and what people chose.
type sight struct {
	state
	now   time.Time
	width int
	choice
	// command and kubectl make whole command lines.
	command, kubectl func(words ...string) string
}

// choice is what people chose to see of process groups.
type choice struct {
	filter string
	sort   int
	by     int
	only   bool
}

// look is the frame; an empty one before the first.
func (s sight) look() ui.Frame {
	if s.frame == nil {
		return ui.Frame{}
	}
	return *s.frame
}

// age is how long ago a moment was; "?" when nobody knows.
func (s sight) age(t *time.Time) string {
	if t == nil {
		return markUnknown
	}
	return lasting(s.now.Sub(*t))
}

// until is how long there is until a moment; "due" once it is over.
func (s sight) until(t *time.Time) string {
	switch {
	case t == nil:
		return markUnknown
	case !t.After(s.now):
		return "due"
	default:
		return lasting(t.Sub(s.now))
	}
}

// lasting is a duration in as few letters as kubectl uses. Clocks of two machines differ, so
// what is a little in the future is now.
func lasting(d time.Duration) string { return duration.HumanDuration(max(0, d)) }
