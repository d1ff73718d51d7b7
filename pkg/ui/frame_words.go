package ui

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// ChangeWriter writes what changed from frame to frame, for screen readers and log files. The
// zero value has written nothing.
type ChangeWriter struct {
	last *frame.Frame
	// uid is that of the cluster in the last frame that has one.
	uid string
	// conditions are the last known ones of each process group, answers whether each coordinator answered when that was
	// known last, and holders the holders of the Lease and of the lock then; empty for none.
	conditions map[string][]inspect.ConditionView
	answers    map[string]bool
	holders    map[string]string
	// left are the remaining bytes that were last written, by process.
	left map[string]int64
	// events are those that were written, by how often they were seen.
	events map[inspect.EventView]int
	// began is the time of the first frame: earlier events are not written.
	began time.Time
}

// Changes returns what changed since the last frame, one line each; of the first frame what
// matters of it.
func (t *ChangeWriter) Changes(v frame.Frame) []string {
	var lines []string
	if v.IsOfAnother(t.uid) {
		t.last, lines = nil, []string{fmt.Sprintf("%s: UID %s, before %s", frame.AnotherCluster, v.UID, t.uid)}
	}
	t.uid = cmp.Or(v.UID, t.uid)
	if t.last == nil {
		t.left, t.events, t.began = map[string]int64{}, map[inspect.EventView]int{}, frameAt(v)
		t.conditions, t.answers, t.holders = map[string][]inspect.ConditionView{}, map[string]bool{}, map[string]string{}
		t.last = &frame.Frame{}
	}
	before := *t.last
	lines = slices.Concat(
		lines, t.state(before, v), sourceNews(before, v), t.groupNews(before, v), nodeNews(before, v), t.drainNews(before, v),
		t.coordinatorNews(before, v), t.lockNews(v), BackupNews(before, v), planNews(before, v), t.eventNews(v),
	)
	t.last = &v
	for i := range lines {
		lines[i] = inspect.OneLine(lines[i])
	}
	return lines
}

// ages are what changes in a sentence every second.
var ages = regexp.MustCompile(`\b(\d+(\.\d+)?[ydhms])+\b`)

// sameBut reports whether two sentences differ only in ages.
func sameBut(a, b string) bool {
	return ages.ReplaceAllString(a, "…") == ages.ReplaceAllString(b, "…")
}

func (t *ChangeWriter) state(before, now frame.Frame) []string {
	if sameBut(before.Status.Summary, now.Status.Summary) {
		return nil
	}
	return []string{now.Status.Summary}
}

func sourceNews(before, now frame.Frame) (lines []string) {
	for _, s := range now.Sources {
		was := frame.Source{}
		if old := before.Source(s.Name); old != nil {
			was = *old
		}
		switch {
		case s.Problem != "" && !sameBut(s.Problem, was.Problem):
			lines = append(lines, fmt.Sprintf("%s: no answer: %s", s.Name, s.Problem))
		case s.Problem == "" && was.Problem != "":
			lines = append(lines, s.Name+": answers again")
		}
	}
	return lines
}

func (t *ChangeWriter) eventNews(now frame.Frame) (lines []string) {
	for _, e := range now.Events.Items {
		one := inspect.EventView{First: e.First, Object: e.Object, Reason: e.Reason, Message: e.Message}
		if e.Time.Before(t.began) || t.events[one] >= e.Count {
			continue
		}
		t.events[one] = e.Count
		lines = append(lines, fmt.Sprintf("event: %s %s: %s: %s", strings.ToLower(e.Type), e.Object, e.Reason, e.Message))
	}
	return lines
}

func frameGroup(v frame.Frame, id string) *inspect.GroupView {
	i := slices.IndexFunc(v.Groups.Items, func(g inspect.GroupView) bool { return g.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Groups.Items[i]
}

func frameDrain(v frame.Frame, d inspect.DrainView) *inspect.DrainView {
	i := slices.IndexFunc(v.Exclusions.Items, func(o inspect.DrainView) bool { return o.Name() == d.Name() })
	if i < 0 {
		return nil
	}
	return &v.Exclusions.Items[i]
}

// frameKnown reports whether the cluster was read from Kubernetes.
func frameKnown(v frame.Frame) bool {
	s := v.Source(frame.SourceOfKubernetes)
	return s != nil && s.AsOf != nil && s.Problem == ""
}

// frameAt returns when the frame was made.
func frameAt(v frame.Frame) time.Time {
	if v.AsOf == nil {
		return time.Time{}
	}
	return *v.AsOf
}
