package tui

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/passes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// The history of a cluster is limited in the number of states and in the memory of their frames, in bytes: a dashboard can stay
// open for days.
const (
	maxStates       = 600
	maxHistoryBytes = 24 << 20
)

// stateGap is the minimum time between two states of a pass in the history.
const stateGap = time.Second

// history is the states of a cluster, in order. Its zero value is empty.
type history struct {
	// states are the states to go back to, the oldest first. Their frames are in a recording.
	states []state
	// last is the state after the last entry, with its frame.
	last state
}

// add adds an entry, whose frame is kept in a recording.
func (t history) add(e Entry, r *entries.Recording) history {
	t.last = t.last.apply(e)
	if e.Frame != nil {
		t.last.kept = r.Keep(e.Frame)
	}
	if t.last.frame == nil {
		return t
	}
	if e.Frame != nil || t.last.at.Sub(t.states[len(t.states)-1].at) >= stateGap {
		t.states = append(t.states, t.last.withoutFrame())
	}
	return t
}

// trimmed returns the history without the oldest states above the limits, and their number.
func (t history) trimmed() (history, int) {
	keep, bytes := 0, 0
	var before entries.KeptFrame
	for i := len(t.states) - 1; i >= 0 && keep < maxStates; i-- {
		bytes += t.states[i].kept.BytesBeside(before)
		if bytes > maxHistoryBytes && keep > 1 {
			break
		}
		before = t.states[i].kept
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
	// frame is the last frame; nil before the first, and in the states of a history. It is immutable.
	frame *frame.Frame
	// kept is the frame in a recording.
	kept entries.KeptFrame
	// load is what graphs show of the frame; nil where it has no load.
	load *workload.Sample
	pass passes.Pass
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
		s.frame, s.uid, s.load = e.Frame, cmp.Or(e.Frame.UID, s.uid), workload.NewSample(e.Frame.Workload, s.load)
	}
	if len(e.Pass) > 0 {
		s.pass = s.pass.Apply(e.At, e.Pass)
	}
	return s
}

// withoutFrame returns the state as a history has it.
func (s state) withoutFrame() state {
	s.frame = nil
	return s
}

// openedFrame is the frame of the state of a history that is shown: it is read once.
type openedFrame struct {
	kept  entries.KeptFrame
	frame *frame.Frame
}

// of returns the state with its frame.
func (o *openedFrame) of(s state) state {
	if o.kept != s.kept {
		o.kept, o.frame = s.kept, s.kept.Frame()
	}
	s.frame = o.frame
	return s
}
