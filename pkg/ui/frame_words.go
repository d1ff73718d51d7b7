package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ChangeWriter writes what changed from frame to frame, for screen readers and log files. The
// zero value has written nothing.
type ChangeWriter struct {
	last *Frame
	// left are the remaining bytes that were last written, by process.
	left map[string]int64
	// events are those that were written, by how often they were seen.
	events map[EventView]int
	// began is the time of the first frame: earlier events are not written.
	began time.Time
}

// Changes returns what changed since the last frame, one line each; of the first frame what
// matters of it.
func (t *ChangeWriter) Changes(v Frame) []string {
	if t.last == nil {
		t.left, t.events, t.began = map[string]int64{}, map[EventView]int{}, v.at()
		t.last = &Frame{}
	}
	before := *t.last
	lines := slices.Concat(
		t.state(before, v), sourceNews(before, v), groupNews(before, v), nodeNews(before, v), t.drainNews(before, v),
		coordinatorNews(before, v), lockNews(before, v), backupNews(before, v), planNews(before, v), t.eventNews(v),
	)
	t.last = &v
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return lines
}

// ages are what changes in a sentence every second.
var ages = regexp.MustCompile(`\b(\d+(\.\d+)?[ydhms])+\b`)

// sameBut reports whether two sentences differ only in ages.
func sameBut(a, b string) bool {
	return ages.ReplaceAllString(a, "…") == ages.ReplaceAllString(b, "…")
}

func (t *ChangeWriter) state(before, now Frame) []string {
	if sameBut(before.Status.Summary, now.Status.Summary) {
		return nil
	}
	return []string{now.Status.Summary}
}

func sourceNews(before, now Frame) (lines []string) {
	for _, s := range now.Sources {
		was := FrameSource{}
		if old := before.Source(s.Name); old != nil {
			was = *old
		}
		switch {
		case s.Trouble != "" && !sameBut(s.Trouble, was.Trouble):
			lines = append(lines, fmt.Sprintf("%s: no answer: %s", s.Name, s.Trouble))
		case s.Trouble == "" && was.Trouble != "":
			lines = append(lines, s.Name+": answers again")
		}
	}
	return lines
}

func (t *ChangeWriter) eventNews(now Frame) (lines []string) {
	for _, e := range now.Events.Items {
		one := EventView{First: e.First, Object: e.Object, Reason: e.Reason, Message: e.Message}
		if e.Time.Before(t.began) || t.events[one] >= e.Count {
			continue
		}
		t.events[one] = e.Count
		lines = append(lines, fmt.Sprintf("event: %s %s: %s: %s", strings.ToLower(e.Type), e.Object, e.Reason, e.Message))
	}
	return lines
}

func (v Frame) group(id string) *GroupView {
	i := slices.IndexFunc(v.Groups.Items, func(g GroupView) bool { return g.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Groups.Items[i]
}

func (v Frame) drain(d DrainView) *DrainView {
	i := slices.IndexFunc(v.Exclusions.Items, func(o DrainView) bool { return o.name() == d.name() })
	if i < 0 {
		return nil
	}
	return &v.Exclusions.Items[i]
}

// known reports whether the cluster was read from Kubernetes.
func (v Frame) known() bool {
	s := v.Source(SourceOfKubernetes)
	return s != nil && s.AsOf != nil && s.Trouble == ""
}

// at returns when the frame was made.
func (v Frame) at() time.Time {
	if v.AsOf == nil {
		return time.Time{}
	}
	return *v.AsOf
}
