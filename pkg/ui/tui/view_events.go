package tui

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// eventsPage shows what happened, the newest first.
func eventsPage(s clusterView) page {
	items := s.snapshot().Events.Items
	p := page{empty: "no Kubernetes events of the cluster's objects", columns: titles(inspect.EventColumns)}
	warnings := 0
	for _, e := range slices.Backward(items) {
		r := eventRow(e)
		if r.tone >= warn {
			warnings++
		}
		p.rows = append(p.rows, r)
	}
	p.summary = line{styled(plain, phrase.Count(len(items), "event")+", "), styled(toneOfCount(warnings), phrase.Count(warnings, "warning"))}
	if !s.answered(frame.SourceOfEvents) {
		p.summary, p.empty = styledLine(warn, markUnknown+" events unknown"), ""
	}
	return p
}

func eventRow(e inspect.EventView) row {
	key := fmt.Sprintf("%s %s %s %d", e.Object, e.Reason, e.Message, e.First.UnixNano())
	return listed(inspect.EventColumns, e, row{key: key, group: e.ProcessGroup, tone: e.Tone(), more: func(s clusterView) []line { return s.aboutEvent(e) }})
}

func (s clusterView) aboutEvent(e inspect.EventView) []line {
	return []line{
		heading(e.Reason), fact("type", e.Type), fact("object", e.Object), fact("process group", phrase.Or(e.ProcessGroup, phrase.Nothing)),
		fact("seen", s.moment(e.Time)), fact("first", s.moment(e.First)), fact("count", strconv.Itoa(e.Count)), fact("from", phrase.Or(e.From, phrase.Nothing)), fact("message", e.Message),
	}
}

// eventsOf returns the events of a process group, and the command that lists them.
func (s clusterView) eventsOf(id string) []line {
	return append(s.eventLines(id), commandLines(s.o.fdb("events", s.cluster()))...)
}

// eventLines returns the events of a process group, the newest first.
func (s clusterView) eventLines(id string) []line {
	lines := []line{heading("Events of " + id)}
	for _, e := range slices.Backward(s.snapshot().Events.Items) {
		if e.ProcessGroup != id {
			continue
		}
		t := e.Tone()
		lines = append(lines, line{styled(faint, "  "+fit(s.age(&e.Time), 6)), styled(t, t.Mark()+" "), styled(t, e.Reason+"  "), styled(plain, e.Message)})
	}
	if len(lines) == 1 && !s.answered(frame.SourceOfEvents) {
		return append(lines, styledLine(warn, "  "+markUnknown+" events unknown"))
	}
	if len(lines) == 1 {
		lines = append(lines, styledLine(plain, "  no events"))
	}
	return lines
}
