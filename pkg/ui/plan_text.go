package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// PlanOptions is how a plan is printed.
type PlanOptions struct {
	Paint
	// Wide gives every action a row of its own.
	Wide bool
	// NoHeaders leaves out the header row.
	NoHeaders bool
}

// WritePlan prints a plan: a table of the actions, the details of those with an impact,
// and what blocks the rest.
func WritePlan(w io.Writer, v planned.PlanView, o PlanOptions) error {
	if err := o.proposed(w, v); err != nil {
		return err
	}
	if err := o.changes(w, v.Changes); err != nil {
		return err
	}
	rows := grouped(v.Items, o)
	if len(rows) > 0 {
		if err := planTable(rows, o).Write(w); err != nil {
			return err
		}
	}
	o.differences(w, v.Items)
	o.details(w, rows)
	o.provisional(w, rows)
	o.refused(w, v.Gates)
	o.holds(w, v.Holds)
	if len(v.Privileges) > 0 {
		layout.Entry(w, o.in(yellow, "privileged:")+" ", "pod templates request more than their own pods: "+phrase.List(privilegeWords(v.Privileges)))
	}
	for _, r := range plan.ByRule(v.Refusals) {
		layout.Entry(w, o.in(red, "refused before:")+" ", r.Summary(v.Refusals))
	}
	o.namespaceRules(w, v.NamespaceRules)
	o.kept(w, v)
	o.housekeeping(w, v.Pass.Housekeeping)
	if v.Pause != nil && v.AsOf != nil {
		layout.Line(w, "%s %s", o.in(yellow, "paused:"), v.Pause.Text(*v.AsOf))
	}
	for _, failure := range v.Pass.FailuresBeside(v.Gates) {
		layout.Entry(w, o.in(red, "failed:")+" ", failure)
	}
	if stopped := v.Pass.StoppedBeside(); stopped != "" {
		layout.Entry(w, o.in(red, "stopped:")+" ", stopped)
	}
	if err := o.forecast(w, v.Forecast); err != nil {
		return err
	}
	o.simulations(w, v.Simulations)
	layout.Line(w, "%s", planSentence(v))
	return nil
}

// proposed prints the change of the resource that the plan is made for, with the old and new values of its fields.
func (o PlanOptions) proposed(w io.Writer, v planned.PlanView) error {
	p := v.Proposed
	if p == nil {
		return nil
	}
	layout.Entry(w, o.in(yellow, "not stored yet:")+" ", proposedWords(v.Metadata.Cluster, *p))
	if p.AdmissionUnknown {
		layout.Entry(w, o.in(yellow, "unknown:")+" ", "what the API server would store was not read: its defaults, conversions and refusals are not in this plan")
	}
	for _, owner := range p.Owners {
		layout.Entry(w, o.in(yellow, "set by others:")+" ", phrase.List(owner.Fields)+" "+phrase.Is(len(owner.Fields))+" set by "+owner.Manager+", which may set it back")
	}
	if len(p.Fields) == 0 {
		return nil
	}
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{{Name: "FIELD", Min: 20}, {Name: "NOW", Min: 10}, {Name: "PROPOSED", Min: 10}}}
	for _, f := range p.Fields {
		t.Rows = append(t.Rows, []string{f.Path, valueWords(f.From), valueWords(f.To)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}

// proposedWords returns what would be stored, and how.
func proposedWords(resource string, p planned.Proposed) string {
	switch {
	case p.New:
		return resource + " would be created from " + p.Source
	case len(p.Fields) == 0:
		return p.Source + " changes no field of " + resource
	}
	words := p.Source + " changes " + phrase.Count(len(p.Fields), "field") + " of " + resource
	if p.Manager != "" {
		words += ", by a server-side apply of " + p.Manager
	}
	return words
}

// changes prints the settings that differ from the spec, with their old and new values.
func (o PlanOptions) changes(w io.Writer, all []planned.SettingChange) error {
	if len(all) == 0 {
		return nil
	}
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{{Name: "SETTING", Min: 20}, {Name: "NOW", Min: 10}, {Name: "DESIRED", Min: 10}}}
	for _, c := range all {
		t.Rows = append(t.Rows, []string{c.Setting, valueWords(c.From), valueWords(c.To)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}

func privilegeWords(all []objects.Privilege) []string {
	words := make([]string, len(all))
	for i, p := range all {
		words[i] = p.Text()
	}
	return words
}

func valueWords(value *string) string {
	if value == nil {
		return phrase.Nothing
	}
	return *value
}

// planRow is one row: an action, or several of one kind and stage.
type planRow struct {
	planned.PlanItem
	subjects []string
	last     int
}

// alike is how many actions of the same kind a stage may have before they share a row.
const alike = 3

func grouped(items []planned.PlanItem, o PlanOptions) []planRow {
	var rows []planRow
	for start := 0; start < len(items); {
		end := start + 1
		for end < len(items) && items[end].Stage == items[start].Stage && items[end].Kind == items[start].Kind {
			end++
		}
		if o.Wide || end-start <= alike {
			end = start + 1
		}
		row := planRow{PlanItem: items[start], last: items[end-1].Number}
		for _, item := range items[start:end] {
			row.subjects = append(row.subjects, item.Subject)
		}
		rows = append(rows, row)
		start = end
	}
	return rows
}

func planTable(rows []planRow, o PlanOptions) Table {
	t := Table{NoHeaders: o.NoHeaders, Columns: []layout.Column{
		{Name: "#"},
		{Name: "STAGE", Drop: 2},
		{Name: "ACTION"},
		{Name: "SUBJECT", Min: 20},
		{Name: "WHY", Below: true},
		{Name: "GATES", Drop: 1, Min: 10},
		{Name: "IMPACT"},
	}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.number(), string(r.Stage), r.Kind, r.subject(), phrase.Or(r.Why, phrase.Nothing), gatesWords(r.Preconditions), string(r.Impact)})
	}
	return t
}

func (r planRow) number() string {
	n := strconv.Itoa(r.Number)
	if r.last > r.Number {
		n += ".." + strconv.Itoa(r.last)
	}
	if len(r.Provisional) > 0 {
		n += "*"
	}
	return n
}

func (r planRow) subject() string {
	if len(r.subjects) == 1 {
		return shortened(r.Subject)
	}
	return fmt.Sprintf("%d: %s ..", len(r.subjects), strings.Join(r.subjects[:alike], ", "))
}

// shortened returns a list of subjects that fits into a table.
func shortened(subject string) string {
	parts := strings.Split(subject, ", ")
	if len(parts) <= alike {
		return subject
	}
	return fmt.Sprintf("%d: %s ..", len(parts), strings.Join(parts[:alike], ", "))
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

// details prints the actions that have an impact on a running database.
func (o PlanOptions) details(w io.Writer, rows []planRow) {
	for _, r := range rows {
		if r.Impact != plan.NoImpact {
			layout.Entry(w, o.in(bold, "#"+strconv.Itoa(r.Number)+":")+" ", r.Summary)
		}
	}
}

// differences spells out what would be adopted although it is not as desired: nothing
// remembers later that it still is to be changed. A version that is chosen is spelled out as well.
func (o PlanOptions) differences(w io.Writer, items []planned.PlanItem) {
	for _, item := range items {
		if a, ok := item.Details.(plan.AdoptSpec); ok && len(a.Differences) > 0 {
			o.spelledOut(w, item, "")
		}
		if _, ok := item.Details.(plan.SetPriorities); ok { // in several resources
			o.spelledOut(w, item, "")
		}
		if _, ok := item.Details.(plan.SetRestoreVersion); ok {
			o.spelledOut(w, item, evidenceOf(item.Preconditions, plan.CheckRestoreTime))
		}
	}
}

func (o PlanOptions) spelledOut(w io.Writer, item planned.PlanItem, evidence string) {
	words := item.Summary
	if evidence != "" {
		words += "; " + evidence
	}
	layout.Entry(w, o.in(bold, "#"+strconv.Itoa(item.Number)+":")+" ", words)
}

func evidenceOf(p planned.Preconditions, id plan.CheckID) string {
	if i := slices.IndexFunc(p.Checks, func(c plan.Check) bool { return c.ID == id }); i >= 0 {
		return p.Checks[i].Evidence
	}
	return ""
}

func (o PlanOptions) provisional(w io.Writer, rows []planRow) {
	var after []plan.StageName
	for _, r := range rows {
		for _, stage := range r.Provisional {
			if !slices.Contains(after, stage) {
				after = append(after, stage)
			}
		}
	}
	if len(after) > 0 {
		layout.Entry(w, o.in(bold, "*:")+" ", "re-evaluated after "+phrase.List(after))
	}
}

func (o PlanOptions) refused(w io.Writer, gates []plan.Check) {
	for _, c := range gates {
		if !c.OK {
			layout.Entry(w, o.checkWord(c.Nature())+" ", inspect.CheckWords(c))
		}
	}
}

// checkWord is the word for a check that does not hold: it passes later by itself, or a user should act.
func (o PlanOptions) checkWord(n plan.Nature) string {
	if n == plan.Ordinary {
		return o.in(yellow, "not yet:")
	}
	return o.in(red, "refused:")
}

func (o PlanOptions) holds(w io.Writer, holds []planned.PlanHold) {
	for _, h := range holds {
		word, color := "waiting:", yellow
		if h.ManualIntervention {
			word, color = "blocked:", red
		}
		layout.Entry(w, o.in(color, word)+" ", fmt.Sprintf("%s: %s%s", h.Stage, inspect.OneLine(h.Reason), after(h.Provisional)))
		for _, c := range h.Refused {
			layout.Entry(w, "  "+o.checkWord(h.Nature)+" ", inspect.CheckWords(c))
		}
	}
}

// kept prints what the spec keeps and the next pass would mark otherwise, and what it keeps in vain.
func (o PlanOptions) kept(w io.Writer, v planned.PlanView) {
	for _, warning := range v.Warnings {
		layout.Entry(w, o.in(yellow, "warning:")+" ", warning)
	}
	for _, c := range v.Kept {
		if c.Have != "" {
			layout.Entry(w, o.in(faint, "kept:")+" ", c.Subject+", "+c.Evidence)
		}
	}
}

func (o PlanOptions) housekeeping(w io.Writer, all []inspect.HousekeepingRecord) {
	for _, h := range all {
		layout.Entry(w, o.in(faint, "later:")+" ", h.Text())
	}
}

func after(stages []plan.StageName) string {
	if len(stages) == 0 {
		return ""
	}
	return " (re-evaluated after " + phrase.List(stages) + ")"
}

func planSentence(v planned.PlanView) string {
	name := v.Metadata.Cluster
	refused := v.Refused()
	switch {
	case v.Work() > 0 && len(refused) > 0:
		return fmt.Sprintf("%s: %s to do, and a pass would refuse to start: %s.", name, phrase.Count(len(v.Items), "action"), refused[0].Gate)
	case len(v.Items) > 0 && len(v.Holds) > 0:
		return fmt.Sprintf("%s: %s to do now, more to follow.", name, phrase.Count(len(v.Items), "action"))
	case len(v.Items) > 0 && v.Work() == 0:
		return fmt.Sprintf("%s: nothing to do; the next pass also updates the status.", name)
	case len(v.Items) > 0:
		return fmt.Sprintf("%s: %s to do.", name, phrase.Count(len(v.Items), "action"))
	case len(v.Holds) > 0:
		return fmt.Sprintf("%s: nothing can be done now; %s.", name, phrase.Count(len(v.Holds), "stage")+" cannot continue")
	case len(v.Pass.Failures) > 0 || v.Pass.Stopped != "":
		return fmt.Sprintf("%s: cannot make a plan.", name)
	default:
		return fmt.Sprintf("%s: nothing to do.", name)
	}
}
