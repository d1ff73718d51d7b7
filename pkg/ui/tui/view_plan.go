package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// planPage shows what the next pass would do, which stages wait, and for which gate.
func planPage(s clusterView) page {
	v := s.snapshot().Plan
	if v == nil {
		return page{empty: "no preview of a pass yet; the header has its age and errors"}
	}
	p := page{empty: "the next pass has nothing to do", summary: s.planSummary(*v), columns: []layout.Column{
		{Name: " "}, {Name: "STAGE", Min: 12}, {Name: "WHAT", Min: 20}, {Name: "HAVE", Min: 8, Drop: 80}, {Name: "NEED", Min: 8, Drop: 70}, {Name: "GATE", Drop: 60}, {Name: "IMPACT", Min: 6, Drop: 110},
	}}
	for _, c := range v.Refused() {
		p.rows = append(p.rows, checkRow("before all stages", c))
	}
	for i, h := range v.Holds {
		p.rows = append(p.rows, holdRows(i, h)...)
	}
	for _, item := range v.Items {
		p.rows = append(p.rows, itemRow(item))
	}
	return p
}

func (s clusterView) planSummary(v planned.PlanView) line {
	l := line{styled(plain, phrase.Count(len(v.Items), "action")+" to do")}
	if len(v.Holds) > 0 {
		l = append(l, styled(warn, fmt.Sprintf(", %s: %s", phrase.Count(len(v.Holds), "stage")+phrase.Either(len(v.Holds), " waits", " wait, the first"), v.MainHold().Stage)))
	}
	if n := len(v.Refused()); n > 0 {
		l = append(l, styled(bad, ", no pass may start"))
	}
	return append(l, styled(faint, " · previewed "+s.age(v.AsOf)+" ago"))
}

// checkRow returns the row of a gate that refused, with the current and the required value.
func checkRow(step string, c plan.Check) row {
	return row{key: step + " " + c.Key(), tone: bad, more: func(clusterView) []line { return append([]line{heading(step)}, checkLines(c)...) }, cells: []span{
		styled(bad, markBad), styled(plain, step), styled(bad, c.Text()), styled(bad, phrase.Or(c.Have, phrase.Nothing)), styled(plain, phrase.Or(c.Need, phrase.Nothing)), styled(bad, phrase.Or(string(c.Gate), phrase.Nothing)), styled(plain, phrase.Nothing),
	}}
}

// holdRows returns a stage that waits, and below it the gates for which it waits.
func holdRows(i int, h planned.PlanHold) []row {
	t, what := warn, "waits: "+h.Reason
	if h.ManualIntervention {
		t, what = bad, "blocked: "+h.Reason
	}
	rows := []row{{key: fmt.Sprintf("hold %d %s", i, h.Stage), tone: t, more: func(clusterView) []line { return aboutHold(h) }, cells: []span{
		styled(t, t.Mark()), styled(strong, string(h.Stage)), styled(t, what), styled(plain, phrase.Nothing), styled(plain, phrase.Nothing), styled(plain, phrase.Nothing), styled(plain, phrase.Nothing),
	}}}
	for n, c := range h.Refused {
		r := checkRow("└ "+string(h.Stage), c)
		r.key = fmt.Sprintf("%s %d %d", r.key, i, n)
		rows = append(rows, r)
	}
	return rows
}

func itemRow(item planned.PlanItem) row {
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
	return row{key: strconv.Itoa(item.Number) + " " + string(item.Stage), more: func(clusterView) []line { return aboutItem(item) }, cells: []span{
		styled(plain, "→"), styled(plain, string(item.Stage)), styled(plain, what), styled(plain, phrase.Nothing), styled(plain, phrase.Nothing), styled(plain, gate), styled(t, string(item.Impact)),
	}}
}

func aboutHold(h planned.PlanHold) []line {
	lines := []line{heading(string(h.Stage) + " waits"), fact("reason", h.Reason)}
	if h.RetryAfterSeconds != nil {
		lines = append(lines, fact("retries", "after "+phrase.SecondsOr(h.RetryAfterSeconds, phrase.UnknownCell)))
	}
	if h.ManualIntervention {
		lines = append(lines, factIn(bad, "requires", "manual intervention: waiting does not resolve it"))
	}
	for _, c := range h.Refused {
		lines = append(lines, checkLines(c)...)
	}
	return lines
}

func aboutItem(item planned.PlanItem) []line {
	lines := []line{
		heading(fmt.Sprintf("Action %d: %s", item.Number, item.Summary)), fact("stage", string(item.Stage)), fact("changes", item.Subject),
		fact("why", phrase.Or(item.Why, phrase.Nothing)), fact("impact", string(item.Impact)), fact("requires lock", phrase.YesNo(&item.Preconditions.Lock, phrase.UnknownCell)),
	}
	if len(item.Provisional) > 0 {
		lines = append(lines, fact("reevaluated", "after "+phrase.List(item.Provisional)))
	}
	for _, c := range item.Preconditions.Checks {
		lines = append(lines, checkLines(c)...)
	}
	return lines
}

// checkLines returns a gate with the current and the required value.
func checkLines(c plan.Check) []line {
	t := bad
	if c.OK {
		t = good
	}
	lines := []line{{styled(t, "  "+t.Mark()+" "), styled(plain, strings.TrimSpace(string(c.Gate)+" ")), styled(plain, " "+c.Text())}}
	if c.Have != "" || c.Need != "" {
		lines = append(lines, fact("", "have "+phrase.Or(c.Have, phrase.UnknownCell)+", need "+phrase.Or(c.Need, phrase.UnknownCell)))
	}
	return lines
}

// planOf returns what the next pass would do about a process group, and what it waits for.
func (s clusterView) planOf(id string) []line {
	v := s.snapshot().Plan
	lines := []line{heading("What a pass would do about " + id)}
	if v == nil {
		return append(lines, styledLine(faint, "  no preview of a pass yet"))
	}
	pod := s.podOf(id)
	found := false
	for _, item := range v.Items {
		if slices.Contains(item.Groups, id) {
			lines, found = append(lines, line{styled(plain, "  → "+string(item.Stage)+"  "), styled(plain, item.Summary)}), true
			if item.Why != "" {
				lines = append(lines, fact("", item.Why))
			}
		}
	}
	for _, h := range v.Holds {
		if h.IsAbout(id) || h.IsAbout(pod) {
			lines, found = append(lines, line{styled(warn, "  "+markWarn+" "), styled(plain, string(h.Stage)+"  "), styled(warn, h.Reason)}), true
		}
	}
	if !found {
		lines = append(lines, styledLine(plain, "  nothing"))
	}
	return append(lines, styledLine(faint, "  previewed "+s.age(v.AsOf)+" ago"))
}
