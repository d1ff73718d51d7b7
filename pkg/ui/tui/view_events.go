package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// eventsPage answers: what happened, the newest first?
func eventsPage(s sight) page {
	items := s.look().Events.Items
	p := page{empty: "Kubernetes tells nothing of the cluster's objects", columns: eventColumns()}
	warnings := 0
	for _, e := range slices.Backward(items) {
		r := s.eventRow(e)
		if r.tone >= warn {
			warnings++
		}
		p.rows = append(p.rows, r)
	}
	p.says = line{say(plain, phrase.Count(len(items), "event")+", "), say(toneOfCount(warnings), phrase.Count(warnings, "warning"))}
	return p
}

func eventColumns() []column {
	return []column{
		{title: " "},
		{title: "SEEN", right: true},
		{title: "REASON", least: 12},
		{title: "OBJECT", least: 18},
		{title: "TIMES", right: true, from: 110},
		{title: "MESSAGE", least: 20},
		{title: "FROM", least: 8, from: 170},
	}
}

func (s sight) eventRow(e ui.EventView) row {
	t := plain
	if e.Type == "Warning" {
		t = warn
	}
	key := fmt.Sprintf("%s %s %s %d", e.Object, e.Reason, e.Message, e.First.UnixNano())
	return row{key: key, group: e.ProcessGroup, tone: t, more: func(s sight) []line { return s.aboutEvent(e) }, cells: []span{
		{t.mark(), t}, say(plain, s.age(&e.Time)), say(t, e.Reason), say(plain, s.shortObject(e.Object)), say(plain, strconv.Itoa(e.Count)), say(plain, phrase.Or(e.Message, phrase.Nothing)), say(plain, phrase.Or(e.From, phrase.Nothing)),
	}}
}

func (s sight) aboutEvent(e ui.EventView) []line {
	return []line{
		heading(e.Reason), fact("type", e.Type), fact("object", e.Object), fact("process group", phrase.Or(e.ProcessGroup, phrase.Nothing)),
		fact("seen", s.moment(e.Time)), fact("first", s.moment(e.First)), fact("times", strconv.Itoa(e.Count)), fact("from", phrase.Or(e.From, phrase.Nothing)), fact("message", e.Message),
	}
}

// eventsOf are the events about a process group, the newest first.
func (s sight) eventsOf(id string) []line {
	lines := []line{heading("Events of " + id)}
	for _, e := range slices.Backward(s.look().Events.Items) {
		if e.ProcessGroup != id {
			continue
		}
		t := plain
		if e.Type == "Warning" {
			t = warn
		}
		lines = append(lines, line{say(faint, "  "+fit(s.age(&e.Time), 6)), {t.mark() + " ", t}, say(t, e.Reason+"  "), say(plain, e.Message)})
	}
	if len(lines) == 1 {
		lines = append(lines, sayLine(plain, "  Kubernetes tells nothing"))
	}
	return append(lines, commandLines(s.o.fdb("events", s.cluster()))...)
}

// shortObject is an object without the name of the cluster, which all have and nobody
// reads.
func (s sight) shortObject(object string) string {
	kind, name, _ := strings.Cut(object, "/")
	if kind == "foundationdbcluster" {
		return "cluster"
	}
	return kind + "/" + strings.TrimPrefix(name, s.cluster()+"-")
}
