package ui

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// drainNews reports each state of an exclusion, and each tenth or so of what is left.
func (t *ChangeWriter) drainNews(before, now Frame) (lines []string) {
	for _, d := range now.Exclusions.Items {
		state := NotExcluded
		if was := before.drain(d); was != nil {
			state = was.State
		}
		last, reported := t.left[d.name()]
		moved := d.LeftBytes != nil && (!reported || last-*d.LeftBytes > last/10 || *d.LeftBytes > last)
		if d.State == state && (!moved || d.State != ExclusionMoving) {
			continue
		}
		if d.LeftBytes != nil {
			t.left[d.name()] = *d.LeftBytes
		}
		lines = append(lines, d.words())
	}
	for _, d := range before.Exclusions.Items {
		if now.Exclusions.Safe != nil && now.drain(d) == nil {
			delete(t.left, d.name())
			lines = append(lines, d.name()+": exclusion ended")
		}
	}
	return lines
}

func (v DrainView) name() string { return phrase.Or(v.ID, v.Process) + ofProcess(v) }

// ofProcess distinguishes the processes of one group.
func ofProcess(v DrainView) string {
	if v.ID == "" || v.Process == "" {
		return ""
	}
	return " at " + v.Process
}

func (v DrainView) words() string {
	text := fmt.Sprintf("%s: exclusion %s", v.name(), v.State)
	if v.LeftBytes != nil && v.State == ExclusionMoving {
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

func coordinatorNews(before, now Frame) (lines []string) {
	for _, c := range now.Coordinators.Items {
		i := slices.IndexFunc(before.Coordinators.Items, func(o CoordinatorDetailView) bool { return o.Address == c.Address })
		was := new(true)
		if i >= 0 {
			was = before.Coordinators.Items[i].Reachable
		} else if before.Kind != "" {
			lines = append(lines, "coordinator "+c.Address+": new")
		}
		if c.Reachable != nil && was != nil && *was != *c.Reachable {
			lines = append(lines, fmt.Sprintf("coordinator %s: %s", c.Address, word(*c.Reachable, "answers again", "does not answer")))
		}
	}
	return lines
}

func lockNews(before, now Frame) (lines []string) {
	for _, held := range []struct{ what, was, is string }{
		{"the Lease", before.Locks.Lease.Holder, now.Locks.Lease.Holder},
		{"the database's lock", before.Status.Locks.owner(), now.Status.Locks.owner()},
	} {
		switch {
		case held.was == held.is:
		case held.is == "":
			lines = append(lines, held.what+": free")
		default:
			lines = append(lines, fmt.Sprintf("%s: held by %s", held.what, held.is))
		}
	}
	return lines
}

// owner returns the holder of the lock; empty once it has expired, and where it is unknown.
func (v LocksView) owner() string {
	if v.Expired {
		return ""
	}
	return v.Owner
}

func planNews(before, now Frame) (lines []string) {
	if now.Plan == nil {
		return nil
	}
	was := PlanView{}
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
		known := slices.ContainsFunc(was.Holds, func(o PlanHold) bool { return o.Stage == h.Stage && sameBut(o.Reason, h.Reason) })
		if !known {
			lines = append(lines, fmt.Sprintf("the next pass would wait at %s: %s", h.Stage, h.Reason))
		}
	}
	return lines
}
