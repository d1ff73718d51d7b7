package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// planPage shows what passes would change, what continues later, the settings that change, and the forecast.
func planPage(s clusterView) page {
	v := s.snapshot().Plan
	if v == nil {
		return page{empty: "no preview of a pass yet; the header has its age and errors"}
	}
	p := page{empty: "the next pass has nothing to do", summary: s.planSummary(*v), columns: []layout.Column{
		{Name: " "}, {Name: "CHANGE", Min: 8}, {Name: "WHAT", Min: 32, Typical: 64}, {Name: "IMPACT", Optional: true}, {Name: "WHY", Roomy: true, Optional: true},
	}}
	for _, c := range v.Refused() {
		p.rows = append(p.rows, refusedRow(c))
	}
	var later []row
	for i, h := range v.Holds {
		if r := holdRow(i, h); h.IsOrdinary() {
			later = append(later, r)
		} else {
			p.rows = append(p.rows, r)
		}
	}
	for _, g := range v.ChangeGroups() {
		p.rows = append(p.rows, changeRow(g))
	}
	p.rows = append(p.rows, later...)
	p.addList([]layout.Column{{Name: " "}, {Name: "SETTING", Min: longSetting}, {Name: "NOW → DESIRED", Min: 16}}, settingRows(v.Changes))
	if f := v.Forecast; f != nil {
		p.addList([]layout.Column{{Name: " "}, {Name: "AFTER"}, {Name: "CHANGE", Min: 8}, {Name: "OBJECTS", Min: 16}, {Name: "IMPACT", Optional: true}}, phaseRows(*f))
		p.addList([]layout.Column{{Name: " "}, {Name: "FORECAST"}, {Name: "OF ALL PASSES", Min: 24}}, forecastRows(f))
	}
	return p
}

// planSummary returns the totals of the plan.
func (s clusterView) planSummary(v planned.PlanView) line {
	var l line
	for _, part := range ui.PlanTotals(v) {
		t := toneOfSign(part.Sign)
		if part.Bad {
			t = bad
		}
		l = append(l, styled(t, part.Text), styled(plain, "  "))
	}
	if len(l) == 0 {
		l = line{styled(plain, phrase.Count(len(v.Items), "action")+" to do ")}
	}
	return append(l, styled(faint, "· previewed "+s.age(v.AsOf)+" ago"))
}

func toneOfSign(s plan.Sign) tone {
	switch s {
	case plan.Adds:
		return good
	case plan.Removes:
		return bad
	case plan.Alters:
		return warn
	default:
		return strong
	}
}

// refusedRow is a gate that keeps a pass from starting.
func refusedRow(c plan.Check) row {
	t := toneOfCheck(c)
	return row{key: "gate " + c.Key(), tone: t, more: func(clusterView) []line { return append([]line{heading("Before all stages")}, checkLines(c)...) }, cells: []span{
		styled(t, t.Mark()), styled(t, "refused"), styled(t, inspect.CheckWords(c)),
	}}
}

// holdRow is a stage that waits. What continues by itself is no problem.
func holdRow(i int, h planned.PlanHold) row {
	t, mark, word := warn, markWarn, "waits"
	switch {
	case h.ManualIntervention:
		t, mark, word = bad, markBad, "blocked"
	case h.IsOrdinary():
		t, mark, word = faint, " ", "later"
	}
	return row{key: fmt.Sprintf("hold %d %s", i, h.Stage), tone: t, more: func(clusterView) []line { return aboutHold(h) }, cells: []span{
		styled(t, mark), styled(t, word), styled(t, string(h.Stage)+ui.WaitWords(h)),
	}}
}

// changeRow is the same action on one or more objects.
func changeRow(g planned.ChangeGroup) row {
	impact, what := "", g.Of
	if g.Impact != plan.NoImpact {
		impact = string(g.Impact)
	}
	if g.IsProvisional() {
		what += "*"
	}
	return row{key: strconv.Itoa(g.Items[0].Number) + " " + string(g.Stage), more: func(clusterView) []line { return aboutChange(g) }, cells: []span{
		styled(toneOfSign(g.Sign), string(g.Sign)), styled(plain, what), styled(plain, g.Objects(maxObjects)), styled(warn, impact), styled(faint, g.Reason()),
	}}
}

// maxObjects is how many objects a row names.
const maxObjects = 8

// longSetting is how many cells the name of a setting has at most that leaves room for the values beside it.
const longSetting = 24

// settingRows are settings with their values, which stand below a long name.
func settingRows(all []planned.SettingChange) []row {
	var rows []row
	for i, c := range planned.MergedSettings(all) {
		values := valueWords(c.From) + " → " + valueWords(c.To)
		r := row{key: fmt.Sprintf("setting %d %s", i, c.Setting), more: func(clusterView) []line {
			return []line{heading(c.Setting), fact("now", valueWords(c.From)), fact("desired", valueWords(c.To))}
		}, cells: []span{styled(warn, string(plan.Alters)), styled(plain, c.Setting), styled(plain, values)}}
		if widthOf(c.Setting) <= longSetting {
			rows = append(rows, r)
			continue
		}
		r.cells = r.cells[:2]
		rows = append(rows, r, row{cells: []span{styled(plain, indent+indent), styled(plain, values)}})
	}
	return rows
}

func valueWords(value *string) string {
	if value == nil {
		return phrase.Nothing
	}
	return *value
}

// phaseRows are the changes of all passes that have an impact or create pods.
func phaseRows(f planned.Forecast) []row {
	var rows []row
	for i, p := range f.Phases {
		if !p.Matters() {
			continue
		}
		c, impact := plan.ChangeOf(p.Kind, nil), ""
		if p.Impact != plan.NoImpact {
			impact = string(p.Impact)
		}
		rows = append(rows, row{key: fmt.Sprintf("phase %d %s", i, p.Kind), more: func(clusterView) []line { return aboutPhase(p) }, cells: []span{
			styled(toneOfSign(c.Sign), string(c.Sign)), styled(plain, ui.PhaseSpan(p)), styled(plain, c.Of), styled(plain, ui.PhaseObjects(p)), styled(warn, impact),
		}})
	}
	return rows
}

func aboutPhase(p planned.ForecastPhase) []line {
	lines := []line{
		heading(p.Summary), fact("stage", string(p.Stage)), fact("action", p.Kind), fact("after", ui.PhaseSpan(p)), fact("actions", strconv.Itoa(p.Actions)),
		fact("impact", string(p.Impact)), fact("objects", phrase.Or(phrase.List(p.Groups), phrase.Nothing)),
	}
	if p.FewestCopies != nil {
		lines = append(lines, fact("copies", strconv.Itoa(*p.FewestCopies)+" at least"))
	}
	return lines
}

// forecastRows are how the forecast ends, its sums, and what it rests on.
func forecastRows(f *planned.Forecast) []row {
	facts := [][2]string{{"end", ui.ForecastSentence(f)}}
	if f.Unavailable == nil {
		facts = append(facts, ui.ForecastFacts(f)...)
	}
	var rows []row
	for i, pair := range facts {
		rows = append(rows, row{key: fmt.Sprintf("forecast %d %s", i, pair[0]), more: func(clusterView) []line {
			return []line{heading(pair[0]), {styled(plain, indent), styled(plain, pair[1])}}
		}, cells: []span{
			styled(plain, " "), styled(faint, pair[0]), styled(plain, pair[1]),
		}})
	}
	return rows
}

// aboutChange returns the actions of a row, each with its checks.
func aboutChange(g planned.ChangeGroup) []line {
	var lines []line
	for _, item := range g.Items {
		lines = append(lines, aboutItem(item)...)
	}
	return lines
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

// toneOfCheck is the severity of a check: one that passes later by itself is a wait.
func toneOfCheck(c plan.Check) tone {
	switch {
	case c.OK:
		return good
	case c.Nature() == plan.Ordinary:
		return warn
	default:
		return bad
	}
}

// checkLines returns a gate with the current and the required value.
func checkLines(c plan.Check) []line {
	t := toneOfCheck(c)
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
