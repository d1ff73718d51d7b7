package tui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// sight is what a view sees: a state, the time on its clock, and what people chose.
type sight struct {
	state
	now    time.Time
	choice choice
	o      *Options
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
		return phrase.UnknownCell
	}
	return phrase.Duration(s.now.Sub(*t))
}

// until is how long there is until a moment; "due" once it is over.
func (s sight) until(t *time.Time) string {
	switch {
	case t == nil:
		return phrase.UnknownCell
	case !t.After(s.now):
		return "due"
	default:
		return phrase.Until(*t, s.now)
	}
}

// clock is a moment as people say it, with the date unless it is today's.
func (s sight) clock(t time.Time) string {
	t, now := t.UTC(), s.now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("01-02 15:04")
}

// lastingSince is for how long something runs, by the clock of the sight.
func (s sight) lastingSince(t time.Time) string { return phrase.Duration(s.now.Sub(t)) }

// since is for how long something holds and since when.
func (s sight) since(t *time.Time) string {
	if t == nil {
		return phrase.UnknownCell
	}
	return s.age(t) + ", since " + s.clock(*t)
}

// moment is how long ago something happened and when.
func (s sight) moment(t time.Time) string { return s.age(&t) + " ago, at " + s.clock(t) }
