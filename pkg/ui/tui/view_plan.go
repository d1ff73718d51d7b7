package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// planPage answers: what would the next pass do, and which step holds, for which gate?
func planPage(s sight) page {
	v := s.look().Plan
	if v == nil {
		return page{empty: "no preview of a pass yet; the line of sources says how that goes"}
	}
	p := page{empty: "the next pass has nothing to do", says: s.planSays(*v), columns: []column{
		{title: " "}, {title: "STEP", least: 12}, {title: "WHAT", least: 16}, {title: "HAVE", least: 4}, {title: "NEED", least: 4}, {title: "GATE"}, {title: "IMPACT", least: 6, from: 110},
	}}
	for _, c := range v.Refused() {
		p.rows = append(p.rows, checkRow("before all steps", c))
	}
	for i, h := range v.Holds {
		p.rows = append(p.rows, holdRows(i, h)...)
	}
	for _, item := range v.Items {
		p.rows = append(p.rows, itemRow(item))
	}
	return p
}

func (s sight) planSays(v ui.PlanView) line {
	l := line{say(plain, phrase.Count(len(v.Items), "action")+" to do")}
	if len(v.Holds) > 0 {
		l = append(l, say(warn, fmt.Sprintf(", %s: %s", phrase.Count(len(v.Holds), "step")+phrase.Either(len(v.Holds), " waits", " wait, the first"), v.MainHold().Stage)))
	}
	if n := len(v.Refused()); n > 0 {
		l = append(l, say(bad, ", no pass may begin"))
	}
	return append(l, say(faint, " · previewed "+s.age(v.AsOf)+" ago"))
}

// checkRow is a gate that refused: what there is and what is needed.
func checkRow(step string, c plan.Check) row {
	return row{key: step + " " + c.Key(), tone: bad, more: func(sight) []line { return append([]line{heading(step)}, checkLines(c)...) }, cells: []span{
		{markBad, bad}, say(plain, step), say(bad, c.Words()), say(bad, phrase.Or(c.Have, phrase.Nothing)), say(plain, phrase.Or(c.Need, phrase.Nothing)), say(bad, phrase.Or(string(c.Gate), phrase.Nothing)), {phrase.Nothing, plain},
	}}
}

// holdRows are a step that holds and below it the gates that it holds for.
func holdRows(i int, h ui.PlanHold) []row {
	t, what := warn, "waits: "+h.Reason
	if h.ManualIntervention {
		t, what = bad, "needs somebody: "+h.Reason
	}
	rows := []row{{key: fmt.Sprintf("hold %d %s", i, h.Stage), tone: t, more: func(sight) []line { return aboutHold(h) }, cells: []span{
		{t.mark(), t}, say(strong, string(h.Stage)), say(t, what), {phrase.Nothing, plain}, {phrase.Nothing, plain}, {phrase.Nothing, plain}, {phrase.Nothing, plain},
	}}}
	for n, c := range h.Refused {
		r := checkRow("└ "+string(h.Stage), c)
		r.key = fmt.Sprintf("%s %d %d", r.key, i, n)
		rows = append(rows, r)
	}
	return rows
}

func itemRow(item ui.PlanItem) row {
	what := item.Summary
	if len(item.Provisional) > 0 {
		what = "* " + what
	}
	gate := phrase.Nothing
	if item.Preconditions.Lock {
		gate = string(plan.GateLock)
	}
	t := plain
	if item.Impact != plan.NoImpact {
		t = warn
	}
	return row{key: strconv.Itoa(item.Number) + " " + string(item.Stage), more: func(sight) []line { return aboutItem(item) }, cells: []span{
		{"→", plain}, say(plain, string(item.Stage)), say(plain, what), {phrase.Nothing, plain}, {phrase.Nothing, plain}, say(plain, gate), say(t, string(item.Impact)),
	}}
}

func aboutHold(h ui.PlanHold) []line {
	lines := []line{heading(string(h.Stage) + " holds"), fact("because", h.Reason)}
	if h.RetryAfterSeconds != nil {
		lines = append(lines, fact("tries again", "after "+phrase.SecondsOr(h.RetryAfterSeconds, phrase.UnknownCell)))
	}
	if h.ManualIntervention {
		lines = append(lines, factIn(bad, "needs", "somebody: time alone does not clear it"))
	}
	for _, c := range h.Refused {
		lines = append(lines, checkLines(c)...)
	}
	return lines
}

func aboutItem(item ui.PlanItem) []line {
	lines := []line{
		heading(fmt.Sprintf("Action %d: %s", item.Number, item.Summary)), fact("step", string(item.Stage)), fact("changes", item.Subject),
		fact("why", phrase.Or(item.Why, phrase.Nothing)), fact("impact", string(item.Impact)), fact("needs lock", phrase.YesNo(&item.Preconditions.Lock, phrase.UnknownCell)),
	}
	if len(item.Provisional) > 0 {
		lines = append(lines, fact("decided again", "after "+phrase.List(item.Provisional)))
	}
	for _, c := range item.Preconditions.Checks {
		lines = append(lines, checkLines(c)...)
	}
	return lines
}

// checkLines are a gate with what there is and what is needed.
func checkLines(c plan.Check) []line {
	t := bad
	if c.OK {
		t = good
	}
	lines := []line{{{"  " + t.mark() + " ", t}, say(plain, strings.TrimSpace(string(c.Gate)+" ")), say(plain, " "+c.Words())}}
	if c.Have != "" || c.Need != "" {
		lines = append(lines, fact("", "have "+phrase.Or(c.Have, phrase.UnknownCell)+", need "+phrase.Or(c.Need, phrase.UnknownCell)))
	}
	return lines
}

// planOf is what the next pass would do about a process group, and what it waits for.
func (s sight) planOf(id string) []line {
	v := s.look().Plan
	lines := []line{heading("What a pass would do about " + id)}
	if v == nil {
		return append(lines, sayLine(faint, "  no preview of a pass yet"))
	}
	pod := s.podOf(id)
	found := false
	for _, item := range v.Items {
		if slices.Contains(item.Groups, id) {
			lines, found = append(lines, line{say(plain, "  → "+string(item.Stage)+"  "), say(plain, item.Summary)}), true
			if item.Why != "" {
				lines = append(lines, fact("", item.Why))
			}
		}
	}
	for _, h := range v.Holds {
		if h.IsAbout(id) || h.IsAbout(pod) {
			lines, found = append(lines, line{{"  " + markWarn + " ", warn}, say(plain, string(h.Stage)+"  "), say(warn, h.Reason)}), true
		}
	}
	if !found {
		lines = append(lines, sayLine(plain, "  nothing"))
	}
	return append(lines, sayLine(faint, "  previewed "+s.age(v.AsOf)+" ago"))
}
