package tui

import "slices"

// Looks back are bounded by how many there are and by how many process groups are in
// them: a screen may stay open for days.
const (
	mostShots      = 600
	mostShotGroups = 60_000
)

// tape is what was seen of a cluster, in order. Its zero value has seen nothing.
type tape struct {
	// shots are the states as they were with each look, the oldest first.
	shots []state
	// last is the state after the last entry, which need not be a look.
	last state
}

// add notes an entry.
func (t tape) add(e Entry) tape {
	t.last = t.last.apply(e)
	if e.Frame != nil {
		t.shots = append(slices.Clip(t.shots), t.last)
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
	t.shots = t.shots[gone:]
	return t, gone
}
