package ui

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// alike is how many objects a row names.
const alike = 3

// gap is the least number of blanks between columns.
const gap = 2

// changes prints the actions: similar ones as one row, or with Wide each with its stage and gates.
func (o PlanOptions) changes(w io.Writer, v planned.PlanView) error {
	if len(v.Items) == 0 {
		return nil
	}
	t := o.grouped(v.ChangeGroups(), layout.Width(w))
	if o.Wide {
		t = o.each(v.Items)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	o.provisional(w, v.Items)
	o.differences(w, v)
	o.evidence(w, v.Items)
	return nil
}

// differences spells out what would be adopted although it is not as desired: nothing remembers later that it still is
// to be changed.
func (o PlanOptions) differences(w io.Writer, v planned.PlanView) {
	for _, item := range v.Items {
		if a, ok := item.Details.(plan.AdoptSpec); ok && len(a.Differences) > 0 {
			layout.Entry(w, o.in(yellow, "differs:")+" ", item.Summary)
		}
	}
}

// grouped returns a row per group of actions, without those that only record what passes observe. A row of objects has
// one line, the description of an action all that it needs.
func (o PlanOptions) grouped(groups []planned.ChangeGroup, width int) Table {
	t := Table{NoHeaders: true, Columns: []layout.Column{
		{Name: "CHANGE"}, {Name: "OBJECTS", Min: 20}, {Name: "IMPACT", Optional: true}, {Name: "WHY", Below: true, Optional: true},
	}}
	groups = decisive(groups)
	used := 0
	for _, g := range groups {
		used = max(used, layout.Cells(o.title(g))+gap+layout.Cells(o.impact(g.Impact))+gap)
	}
	for _, g := range groups {
		t.Rows = append(t.Rows, []string{o.title(g), objectsOf(g, width, used), o.impact(g.Impact), reasonOf(g, width)})
	}
	return t
}

// reasonOf returns why something has an impact, or is done at all where the objects do not show that; empty for others.
func reasonOf(g planned.ChangeGroup, width int) string {
	switch {
	case g.Why, g.IsDescribed():
		return g.Reason()
	case g.Impact != plan.NoImpact:
		return oneLine(g.Reason(), width, len("    why: "))
	default:
		return ""
	}
}

// decisive returns the groups without those that only record, unless there is nothing else.
func decisive(all []planned.ChangeGroup) []planned.ChangeGroup {
	rest := slices.DeleteFunc(slices.Clone(all), func(g planned.ChangeGroup) bool { return plan.RecordsKind(g.Kind) })
	if len(rest) == 0 {
		return all
	}
	return rest
}

// objectsOf returns the objects of a group, as many by name as a line has room for.
func objectsOf(g planned.ChangeGroup, width, used int) string {
	text := g.Objects(alike)
	if width <= 0 || g.IsDescribed() {
		return text
	}
	for n := alike; n > 1 && layout.Cells(text) > width-used; n-- {
		text = g.Objects(n - 1)
	}
	return oneLine(text, width, used)
}

// oneLine returns what of a text fits into a line of which some cells are used; all of it where the width is unknown.
func oneLine(text string, width, used int) string {
	if width <= 0 {
		return text
	}
	return layout.CutAtWord(text, width-used)
}

// signed returns a change with its sign.
func (o PlanOptions) signed(c plan.Change) string {
	return o.in(o.signColor(c.Sign), string(c.Sign)) + " " + c.Of
}

// title returns the change of a group; "*" marks what is decided again.
func (o PlanOptions) title(g planned.ChangeGroup) string {
	if g.IsProvisional() {
		return o.signed(g.Change) + "*"
	}
	return o.signed(g.Change)
}

// impact returns an impact that a row mentions.
func (o PlanOptions) impact(i plan.Impact) string {
	switch i {
	case plan.NoImpact:
		return ""
	case plan.DataLoss, plan.DataRestore:
		return o.in(red, string(i))
	default:
		return o.in(yellow, string(i))
	}
}

// each returns a row per action.
func (o PlanOptions) each(items []planned.PlanItem) Table {
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "#"},
		{Name: "STAGE", Drop: 2},
		{Name: "ACTION"},
		{Name: "SUBJECT", Min: 20},
		{Name: "WHY", Below: true},
		{Name: "GATES", Drop: 1, Min: 10},
		{Name: "IMPACT"},
		{Name: "DOES", Below: true, Optional: true},
	}}
	for _, item := range items {
		n := strconv.Itoa(item.Number)
		if len(item.Provisional) > 0 {
			n += "*"
		}
		c, does := plan.ChangeOf(item.Kind, item.Details), ""
		if !c.Named {
			does = item.Summary
		}
		t.Rows = append(t.Rows, []string{
			n, string(item.Stage), o.in(o.signColor(c.Sign), string(c.Sign)) + " " + item.Kind, item.Subject, phrase.Or(item.Why, phrase.Nothing),
			gatesWords(item.Preconditions), string(item.Impact), does,
		})
	}
	return t
}

func gatesWords(p planned.Preconditions) string {
	var words []string
	for _, c := range p.Checks {
		if c.Gate == "" {
			continue
		}
		word := string(c.Gate)
		if !c.OK {
			word += "=no"
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if p.Lock {
		words = append(words, string(plan.GateLock))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}

// evidence prints what the version of a restore rests on: it was chosen, and not set by a user.
func (o PlanOptions) evidence(w io.Writer, items []planned.PlanItem) {
	for _, item := range items {
		if _, ok := item.Details.(plan.SetRestoreVersion); !ok {
			continue
		}
		if i := slices.IndexFunc(item.Preconditions.Checks, func(c plan.Check) bool { return c.ID == plan.CheckRestoreTime }); i >= 0 {
			layout.Entry(w, o.in(bold, "version:")+" ", item.Preconditions.Checks[i].Evidence)
		}
	}
}

func (o PlanOptions) provisional(w io.Writer, items []planned.PlanItem) {
	var after []plan.StageName
	for _, item := range items {
		for _, stage := range item.Provisional {
			if !slices.Contains(after, stage) {
				after = append(after, stage)
			}
		}
	}
	if len(after) > 0 {
		layout.Entry(w, o.in(bold, "*:")+" ", "re-evaluated after "+phrase.List(after))
	}
}
