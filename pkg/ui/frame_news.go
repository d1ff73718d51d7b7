package ui

import (
	"fmt"
	"slices"
	"time"

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
	case len(now.Plan.Items) == 0 && len(now.Plan.Holds) == 0 && was.Digest != "":
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

// BackupNews reports backups and restores that were added, removed or changed.
func BackupNews(before, now frame.Frame) (lines []string) {
	was, is := frameBackups(before), frameBackups(now)
	if is.Unread != "" && !sameBut(is.Unread, was.Unread) {
		lines = append(lines, "backups could not be read: "+is.Unread)
	}
	for _, b := range is.Backups {
		i := slices.IndexFunc(was.Backups, func(o inspect.BackupRowView) bool { return o.Name == b.Name })
		if i < 0 || !sameBut(backupRowWords(was.Backups[i]), backupRowWords(b)) {
			lines = append(lines, "backup "+b.Name+": "+backupRowWords(b))
		}
	}
	for _, r := range is.Restores {
		i := slices.IndexFunc(was.Restores, func(o inspect.RestoreRowView) bool { return o.Name == r.Name })
		if i < 0 || restoreRowProgress(was.Restores[i]) != restoreRowProgress(r) {
			lines = append(lines, "restore "+r.Name+": "+restoreRowWords(r))
		}
	}
	return append(lines, removedBackups(was, is)...)
}

// frameBackups returns those of the last read; none before the first.
func frameBackups(v frame.Frame) inspect.ClusterBackupsView {
	if v.Backups == nil {
		return inspect.ClusterBackupsView{}
	}
	return *v.Backups
}

func removedBackups(was, is inspect.ClusterBackupsView) (lines []string) {
	if is.AsOf == nil || is.Unread != "" {
		return nil
	}
	for _, b := range was.Backups {
		if !slices.ContainsFunc(is.Backups, func(o inspect.BackupRowView) bool { return o.Name == b.Name }) {
			lines = append(lines, "backup "+b.Name+": deleted")
		}
	}
	for _, r := range was.Restores {
		if !slices.ContainsFunc(is.Restores, func(o inspect.RestoreRowView) bool { return o.Name == r.Name }) {
			lines = append(lines, "restore "+r.Name+": deleted")
		}
	}
	return lines
}

func backupRowWords(v inspect.BackupRowView) string {
	if v.Status == nil {
		return "could not be read: " + v.Unread
	}
	return v.Status.Summary
}

func restoreRowWords(v inspect.RestoreRowView) string {
	if v.Status == nil {
		return "could not be read: " + v.Unread
	}
	return v.Status.Summary
}

// restoreRowProgress identifies the state of a restore, and its progress in tenths: each is reported once.
func restoreRowProgress(v inspect.RestoreRowView) string {
	s := v.Status
	switch {
	case s == nil:
		return v.Unread
	case s.State == nil:
		return s.UnknownReason
	case s.Percent == nil:
		return *s.State + s.LastError
	default:
		return fmt.Sprint(*s.State, s.LastError, int(*s.Percent)/10)
	}
}

// groupNews reports groups that were added and removed, and their conditions and marks.
func (t *ChangeWriter) groupNews(before, now frame.Frame) (lines []string) {
	isFirst := before.Kind == ""
	for _, g := range now.Groups.Items {
		was := frameGroup(before, g.ID)
		if was == nil {
			was = &inspect.GroupView{}
			if !isFirst {
				lines = append(lines, fmt.Sprintf("%s: new process group, class %s", g.ID, g.Class))
			}
		}
		lines = append(lines, t.conditionNews(g, frameAt(now))...)
		if g.RemovalSince != nil && was.RemovalSince == nil {
			lines = append(lines, g.ID+": marked for removal")
		}
		if g.RemovalSince == nil && was.RemovalSince != nil {
			lines = append(lines, g.ID+": no longer marked for removal")
		}
	}
	for _, g := range before.Groups.Items {
		if frameGroup(now, g.ID) == nil && frameKnown(now) {
			delete(t.conditions, g.ID)
			lines = append(lines, g.ID+": removed")
		}
	}
	return lines
}

// conditionNews compares the conditions of a process group with the last known ones: what the database does not report any
// more has not ended.
func (t *ChangeWriter) conditionNews(is inspect.GroupView, now time.Time) (lines []string) {
	was := inspect.GroupView{Conditions: t.conditions[is.ID]}
	for _, c := range is.Conditions {
		if was.Has(c.Type) {
			continue
		}
		line := is.ID + ": " + c.Type
		if c.Since != nil && now.Sub(*c.Since) >= time.Minute {
			line += " for " + phrase.Duration(now.Sub(*c.Since))
		}
		lines = append(lines, line)
	}
	known := is.Conditions
	for _, c := range was.Conditions {
		switch {
		case is.Has(c.Type):
		case is.ConditionsUnknown:
			known = append(slices.Clip(known), c)
		default:
			lines = append(lines, is.ID+": no longer "+c.Type)
		}
	}
	t.conditions[is.ID] = known
	return lines
}

func nodeNews(before, now frame.Frame) (lines []string) {
	for _, n := range now.Nodes.Items {
		was := inspect.NodeView{Ready: new(true), Unschedulable: new(false)}
		if i := slices.IndexFunc(before.Nodes.Items, func(o inspect.NodeView) bool { return o.Name == n.Name }); i >= 0 {
			was = before.Nodes.Items[i]
		}
		if turned(was.Ready, n.Ready) {
			lines = append(lines, fmt.Sprintf("node %s: %s", n.Name, word(*n.Ready, "ready", "not ready")))
		}
		seen := was.Name != ""
		if seen && was.Ready != nil && n.Ready == nil && n.Exists != nil && *n.Exists {
			lines = append(lines, fmt.Sprintf("node %s: no longer reports whether it is ready", n.Name))
		}
		if turned(was.Unschedulable, n.Unschedulable) {
			lines = append(lines, fmt.Sprintf("node %s: %s", n.Name, word(*n.Unschedulable, "unschedulable", "schedulable")))
		}
		lines = append(lines, taintNews(was, n)...)
	}
	return lines
}

func taintNews(was, is inspect.NodeView) (lines []string) {
	for _, taint := range is.Taints {
		if !slices.Contains(was.Taints, taint) {
			lines = append(lines, fmt.Sprintf("node %s: tainted %s", is.Name, taint))
		}
	}
	for _, taint := range was.Taints {
		if is.Taints != nil && !slices.Contains(is.Taints, taint) {
			lines = append(lines, fmt.Sprintf("node %s: no longer tainted %s", is.Name, taint))
		}
	}
	return lines
}

// turned reports whether a value changed. An unknown one has not.
func turned(was, is *bool) bool { return is != nil && (was == nil || *was != *is) }

func word(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
