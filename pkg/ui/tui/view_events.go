package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// eventsPage shows what happened, the newest first.
func eventsPage(s clusterView) page {
	items := s.snapshot().Events.Items
	p := page{empty: "no Kubernetes events of the cluster's objects", columns: eventColumns()}
	warnings := 0
	for _, e := range slices.Backward(items) {
		r := s.eventRow(e)
		if r.tone >= warn {
			warnings++
		}
		p.rows = append(p.rows, r)
	}
	p.summary = line{styled(plain, phrase.Count(len(items), "event")+", "), styled(toneOfCount(warnings), phrase.Count(warnings, "warning"))}
	return p
}

func eventColumns() []column {
	return []column{
		{title: " "},
		{title: "SEEN", right: true},
		{title: "REASON", minimum: 12},
		{title: "OBJECT", minimum: 14, from: 60},
		{title: "TIMES", right: true, from: 110},
		{title: "MESSAGE", minimum: 16},
		{title: "FROM", minimum: 8, from: 170},
	}
}

func (s clusterView) eventRow(e inspect.EventView) row {
	t := plain
	if e.Type == "Warning" {
		t = warn
	}
	key := fmt.Sprintf("%s %s %s %d", e.Object, e.Reason, e.Message, e.First.UnixNano())
	return row{key: key, group: e.ProcessGroup, tone: t, more: func(s clusterView) []line { return s.aboutEvent(e) }, number: eventNumber(e), cells: []span{
		styled(t, t.Mark()), styled(plain, s.age(&e.Time)), styled(t, e.Reason), styled(plain, s.shortObject(e.Object)), styled(plain, strconv.Itoa(e.Count)), styled(plain, phrase.Or(e.Message, phrase.Nothing)), styled(plain, phrase.Or(e.From, phrase.Nothing)),
	}}
}

func eventNumber(e inspect.EventView) func(s clusterView, column string) *float64 {
	return func(s clusterView, column string) *float64 {
		if column == "SEEN" {
			return s.seconds(&e.Time)
		}
		return nil
	}
}

func (s clusterView) aboutEvent(e inspect.EventView) []line {
	return []line{
		heading(e.Reason), fact("type", e.Type), fact("object", e.Object), fact("process group", phrase.Or(e.ProcessGroup, phrase.Nothing)),
		fact("seen", s.moment(e.Time)), fact("first", s.moment(e.First)), fact("times", strconv.Itoa(e.Count)), fact("from", phrase.Or(e.From, phrase.Nothing)), fact("message", e.Message),
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
		t := plain
		if e.Type == "Warning" {
			t = warn
		}
		lines = append(lines, line{styled(faint, "  "+fit(s.age(&e.Time), 6)), styled(t, t.Mark()+" "), styled(t, e.Reason+"  "), styled(plain, e.Message)})
	}
	if len(lines) == 1 {
		lines = append(lines, styledLine(plain, "  no events"))
	}
	return lines
}

// shortObject returns an object without the name of the cluster, which all have.
func (s clusterView) shortObject(object string) string {
	kind, name, _ := strings.Cut(object, "/")
	if kind == "foundationdbcluster" {
		return "cluster"
	}
	return kind + "/" + strings.TrimPrefix(name, s.cluster()+"-")
}
