package tui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

// clusterView is the input of a view: a state, the current time, and the user's choice.
type clusterView struct {
	state
	states []state // up to this one, the oldest first
	now    time.Time
	choice choice
	o      *Options
	fleet  fleet.List
	// tall is true where graphs have two lines.
	tall    bool
	courses *drawnCourses
}

// snapshot returns the frame; an empty one before the first.
func (s clusterView) snapshot() frame.Frame {
	if s.frame == nil {
		return frame.Frame{}
	}
	return *s.frame
}

// answered reports whether a source of the frame ever answered.
func (s clusterView) answered(source string) bool {
	v := s.snapshot().Source(source)
	return v != nil && v.AsOf != nil
}

// isUnread reports whether nothing of the cluster was read yet.
func (s clusterView) isUnread() bool {
	return s.snapshot().UID == "" && !s.answered(frame.SourceOfKubernetes)
}

// times is how the cells of lists show times.
func (s clusterView) times() list.At { return list.At{Now: s.now} }

// age returns how long ago a time was; "?" if unknown.
func (s clusterView) age(t *time.Time) string { return s.times().Age(t) }

// until returns the time left until t; "due" if none is left.
func (s clusterView) until(t *time.Time) string { return s.times().Until(t) }

// clock returns a time of day, with the date if it is another day.
func (s clusterView) clock(t time.Time) string {
	t, now := t.UTC(), s.now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("01-02 15:04")
}

// lastingSince returns the duration from t until now.
func (s clusterView) lastingSince(t time.Time) string { return phrase.Duration(s.now.Sub(t)) }

// since returns a duration and its start.
func (s clusterView) since(t *time.Time) string {
	if t == nil {
		return phrase.UnknownCell
	}
	return s.age(t) + ", since " + s.clock(*t)
}

// moment returns how long ago something happened, and when.
func (s clusterView) moment(t time.Time) string { return s.age(&t) + " ago, at " + s.clock(t) }
