package tui

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/passes"
)

// The history is limited in the number of states and in the number of process groups in them:
// a dashboard can stay open for days.
const (
	maxStates      = 600
	maxStateGroups = 60_000
)

// stateGap is the minimum time between two states of a pass in the history.
const stateGap = time.Second

// history is the states of a cluster, in order. Its zero value is empty.
type history struct {
	// states are the states to go back to, the oldest first.
	states []state
	// last is the state after the last entry.
	last state
}

// add adds an entry.
func (t history) add(e Entry) history {
	t.last = t.last.apply(e)
	if t.last.frame == nil {
		return t
	}
	if e.Frame != nil || t.last.at.Sub(t.states[len(t.states)-1].at) >= stateGap {
		t.states = append(t.states, t.last)
	}
	return t
}

// trimmed returns the history without the oldest states above the limits, and their number.
func (t history) trimmed() (history, int) {
	groups, keep := 0, 0
	for i := len(t.states) - 1; i >= 0 && keep < maxStates; i-- {
		groups += len(t.states[i].frame.Groups.Items)
		if groups > maxStateGroups && keep > 1 {
			break
		}
		keep++
	}
	removed := len(t.states) - keep
	if removed > 0 {
		t.states = slices.Clone(t.states[removed:])
	}
	return t, removed
}

// state is the data of a cluster at one point in time. It is a value: the result of apply
// shares only immutable data with its receiver.
type state struct {
	// at is the time of the last entry; zero before the first.
	at time.Time
	// frame is the last frame; nil before the first. It is immutable.
	frame *frame.Frame
	pass  passes.Pass
	// uid is that of the cluster in the last frame that has one, and another when it became that of another cluster of the same
	// name; zero for never.
	uid     string
	another time.Time
}

// apply returns the state after an entry.
func (s state) apply(e Entry) state {
	s.at = e.At
	if e.Frame != nil {
		if e.Frame.IsOfAnother(s.uid) {
			s.another, s.pass = e.At, passes.Pass{} // the passes were those of the one before
		}
		s.frame, s.uid = e.Frame, cmp.Or(e.Frame.UID, s.uid)
	}
	if len(e.Pass) > 0 {
		s.pass = s.pass.Apply(e.At, e.Pass)
	}
	return s
}
