package tui

import (
	"slices"
	"time"
)

// Looks back are bounded by how many there are and by how many process groups are in
// them: a screen may stay open for days.
const (
	mostShots      = 600
	mostShotGroups = 60_000
)

// shotGap is how far apart the moments of a pass are that one can go back to.
const shotGap = time.Second

// tape is what was seen of a cluster, in order. Its zero value has seen nothing.
type tape struct {
	// shots are the states that one can go back to, the oldest first.
	shots []state
	// last is the state after the last entry.
	last state
}

// add notes an entry.
func (t tape) add(e Entry) tape {
	t.last = t.last.apply(e)
	if t.last.frame == nil {
		return t
	}
	if e.Frame != nil || t.last.at.Sub(t.shots[len(t.shots)-1].at) >= shotGap {
		t.shots = append(t.shots, t.last)
	}
	return t
}

// trimmed forgets the oldest looks where there are too many, and says how many.
func (t tape) trimmed() (tape, int) {
	groups, keep := 0, 0
	for i := len(t.shots) - 1; i >= 0 && keep < mostShots; i-- {
		groups += len(t.shots[i].frame.Groups.Items)
		if groups > mostShotGroups && keep > 1 {
			break
		}
		keep++
	}
	gone := len(t.shots) - keep
	if gone > 0 {
		t.shots = slices.Clone(t.shots[gone:])
	}
	return t, gone
}
