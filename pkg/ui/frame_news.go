package ui

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// drainNews reports each state of an exclusion, and each tenth or so of what is left.
func (t *ChangeWriter) drainNews(before, now frame.Frame) (lines []string) {
	for _, d := range now.Exclusions.Items {
		state := inspect.NotExcluded
		if was := frameDrain(before, d); was != nil {
			state = was.State
		}
		last, reported := t.left[d.Name()]
		moved := d.LeftBytes != nil && (!reported || last-*d.LeftBytes > last/10 || *d.LeftBytes > last)
		if d.State == state && (!moved || d.State != inspect.ExclusionMoving) {
			continue
		}
		if d.LeftBytes != nil {
			t.left[d.Name()] = *d.LeftBytes
		}
		lines = append(lines, drainWords(d))
	}
	for _, d := range before.Exclusions.Items {
		if now.Exclusions.Safe != nil && frameDrain(now, d) == nil {
			delete(t.left, d.Name())
			lines = append(lines, d.Name()+": exclusion ended")
		}
	}
	return lines
}

func drainWords(v inspect.DrainView) string {
	text := fmt.Sprintf("%s: exclusion %s", v.Name(), v.State)
	if v.LeftBytes != nil && v.State == inspect.ExclusionMoving {
		text += ", " + phrase.Bytes(*v.LeftBytes) + " left"
	}
	switch {
	case v.StalledSeconds != nil:
		text += ", stalled for " + phrase.Seconds(*v.StalledSeconds)
	case v.ETASeconds != nil:
		text += ", about " + phrase.Seconds(*v.ETASeconds) + " to go"
	case v.Reason != "" && v.LeftBytes == nil:
		text += ": " + v.Reason
	}
	return text
}

// coordinatorNews compares what coordinators answer with what was known of them last; the first time they are expected to answer.
func (t *ChangeWriter) coordinatorNews(before, now frame.Frame) (lines []string) {
	for _, c := range now.Coordinators.Items {
		was, known := t.answers[c.Address]
		if !known && before.Kind != "" && !slices.ContainsFunc(before.Coordinators.Items, func(o inspect.CoordinatorDetailView) bool { return o.Address == c.Address }) {
			lines = append(lines, "coordinator "+c.Address+": new")
		}
		if c.Reachable == nil {
			continue
		}
		if *c.Reachable != (was || !known) {
			lines = append(lines, fmt.Sprintf("coordinator %s: %s", c.Address, word(*c.Reachable, "answers again", "does not answer")))
		}
		t.answers[c.Address] = *c.Reachable
	}
	return lines
}

// lockNews compares holders with the last known ones.
func (t *ChangeWriter) lockNews(now frame.Frame) (lines []string) {
	for _, held := range []struct {
		what, is string
		known    bool
	}{
		{"the Lease", now.Locks.Lease.Holder, now.Locks.Lease.Read},
		{"the database's lock", locksOwner(now.Status.Locks), now.Status.Locks.Read},
	} {
		switch {
		case !held.known || held.is == t.holders[held.what]:
			continue
		case held.is == "":
			lines = append(lines, held.what+": free")
		default:
			lines = append(lines, fmt.Sprintf("%s: held by %s", held.what, held.is))
		}
		t.holders[held.what] = held.is
	}
	return lines
}

// locksOwner returns the holder of the lock; empty once it has expired.
func locksOwner(v inspect.LocksView) string {
	if v.Expired {
		return ""
	}
	return v.Owner
}

func planNews(before, now frame.Frame) (lines []string) {
	if now.Plan == nil {
		return nil
	}
	was := planned.PlanView{}
	if before.Plan != nil {
		was = *before.Plan
	}
	switch {
	case now.Plan.Digest == was.Digest:
	case len(now.Plan.Items) == 0 && was.Digest != "":
		lines = append(lines, "the next pass has nothing to do")
	case len(now.Plan.Items) > 0:
		lines = append(lines, fmt.Sprintf("the next pass would take %s, first: %s", phrase.Count(len(now.Plan.Items), "action"), now.Plan.Items[0].Summary))
	}
	for _, h := range now.Plan.Holds {
		known := slices.ContainsFunc(was.Holds, func(o planned.PlanHold) bool { return o.Stage == h.Stage && sameBut(o.Reason, h.Reason) })
		if !known {
			lines = append(lines, fmt.Sprintf("the next pass would wait at %s: %s", h.Stage, h.Reason))
		}
	}
	return lines
}
