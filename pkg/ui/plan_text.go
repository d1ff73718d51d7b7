package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
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

// WritePlan prints a plan: its totals in one line, its changes, what waits and what blocks, the settings that change, and
// the forecast.
func WritePlan(w io.Writer, v planned.PlanView, o PlanOptions) error {
	o.totals(w, v)
	for _, unknown := range planUnknowns(v) {
		layout.Entry(w, o.in(yellow, "unknown:")+" ", unknown)
	}
	o.proposed(w, v)
	if err := o.changes(w, v); err != nil {
		return err
	}
	o.refused(w, v.Gates)
	o.blocked(w, v.Holds)
	o.later(w, v)
	o.remarks(w, v)
	o.settings(w, o.settingRows(v.Changes))
	if err := o.forecast(w, v.Forecast); err != nil {
		return err
	}
	o.simulations(w, v.Simulations)
	o.singleFaults(w, v.SingleFaults)
	layout.Line(w, "%s", planSentence(v))
	return nil
}

// WritePruned prints the resources that manifests do not have any more, with what their deletion would do.
func WritePruned(w io.Writer, all []planned.Pruned, o PlanOptions) {
	for _, p := range all {
		by := ""
		if p.AppliedBy != "" {
			by = ", applied by " + p.AppliedBy
		}
		layout.Line(w, "%s %s  not in the manifests%s; this command deletes nothing, and its deletion would mean:", o.in(red, "-"), p.Resource, by)
		for _, line := range p.Consequences() {
			layout.Entry(w, "    ", line)
		}
		layout.Entry(w, "    ", "to delete it: "+p.Delete)
	}
}

// remarks prints what matters beside the changes: rules of the namespace and the spec, and what kept the plan from being
// made.
func (o PlanOptions) remarks(w io.Writer, v planned.PlanView) {
	if len(v.Privileges) > 0 {
		layout.Entry(w, o.in(yellow, "privileged:")+" ", "pod templates request more than their own pods: "+phrase.List(privilegeWords(v.Privileges)))
	}
	for _, r := range plan.ByRule(v.Refusals) {
		layout.Entry(w, o.in(red, "refused before:")+" ", r.Summary(v.Refusals))
	}
	o.namespaceRules(w, v.NamespaceRules)
	o.kept(w, v)
	if v.Pause != nil && v.AsOf != nil {
		layout.Line(w, "%s %s", o.in(yellow, "paused:"), v.Pause.Text(*v.AsOf))
	}
	for _, failure := range v.Pass.FailuresBeside(v.Gates) {
		layout.Entry(w, o.in(red, "failed:")+" ", failure)
	}
	if stopped := v.Pass.StoppedBeside(); stopped != "" {
		layout.Entry(w, o.in(red, "stopped:")+" ", stopped)
	}
}

// proposed prints the change of the resource that the plan is made for, with the old and new values of its fields.
func (o PlanOptions) proposed(w io.Writer, v planned.PlanView) {
	p := v.Proposed
	if p == nil {
		return
	}
	layout.Entry(w, o.in(yellow, "not stored yet:")+" ", proposedWords(v.Metadata.Cluster, *p))
	for _, owner := range p.Owners {
		layout.Entry(w, o.in(yellow, "set by others:")+" ", phrase.List(owner.Fields)+" "+phrase.Is(len(owner.Fields))+" set by "+owner.Manager+", which may set it back")
	}
	o.settings(w, fieldRows(p.Fields))
}

// planUnknowns returns what a plan and its forecast do not know. They stand above the changes: nothing of it is assumed silently.
func planUnknowns(v planned.PlanView) (all []string) {
	if v.Proposed != nil && v.Proposed.AdmissionUnknown {
		all = append(all, "what the API server would store was not read: its defaults, conversions and refusals are not in this plan")
	}
	if v.Proposed != nil && len(v.Proposed.Assumed) > 0 {
		all = append(all, "what the API server makes of "+phrase.List(planned.AssumedWords(v.Proposed.Assumed))+", which it does not have yet: the plan assumes the manifests to be stored together")
	}
	if f := v.Forecast; f != nil && f.Unavailable != nil {
		all = append(all, "what passes do after the next one: "+noForecastWords(f.Unavailable))
	} else if f != nil && f.Assumed.NodesUnread != "" && f.Totals.PodsCreated > 0 {
		all = append(all, "where new pods fit, the forecast assumes all nodes to be there: "+f.Assumed.NodesUnread)
	}
	if r := v.NamespaceRules; r != nil {
		for _, unread := range r.Unknown {
			all = append(all, "what quotas and limit ranges have room for: "+unread)
		}
	}
	return all
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

func privilegeWords(all []objects.Privilege) []string {
	words := make([]string, len(all))
	for i, p := range all {
		words[i] = p.Text()
	}
	return words
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

// PlanLines returns a plan as WritePlan prints it on a terminal of a width.
func PlanLines(v planned.PlanView, width int) [][]TonedText {
	text := widthOnly{width: width}
	if err := WritePlan(&text, v, PlanOptions{Paint: Paint{Color: true}}); err != nil {
		return [][]TonedText{{{list.Bad, err.Error()}}}
	}
	return text.lines()
}

// namespaceRules prints what a plan takes of the quotas at most, and first what they and the ranges will refuse.
func (o PlanOptions) namespaceRules(w io.Writer, r *admission.Rules) {
	if r == nil {
		return
	}
	for _, c := range r.LimitRanges {
		layout.Entry(w, o.in(red, "limit range:")+" ", fmt.Sprintf("LimitRange %s refuses %s; %s",
			c.LimitRange, phrase.Count(c.Objects, c.ObjectKind), plan.Refusal{Kind: plan.RefusedByLimitRange}.Remedy()))
	}
	for _, name := range quotasOf(r) {
		var uses []string
		word, remedy := o.in(faint, "quota:"), ""
		for _, u := range r.Quotas {
			if u.Quota != name {
				continue
			}
			uses = append(uses, fmt.Sprintf("%s %s of %s", u.Resource, u.Peak, u.Hard))
			if u.Exceeded {
				word, remedy = o.in(red, "quota exceeded:"), "; "+plan.Refusal{Kind: plan.RefusedByQuota}.Remedy()
			}
		}
		layout.Entry(w, word+" ", fmt.Sprintf("ResourceQuota %s: %s at the peak%s", name, phrase.List(uses), remedy))
	}
}

func quotasOf(r *admission.Rules) (names []string) {
	for _, u := range r.Quotas {
		if len(names) == 0 || names[len(names)-1] != u.Quota {
			names = append(names, u.Quota)
		}
	}
	return names
}

// settingRow is a setting with its old and new value.
type settingRow struct{ name, from, to string }

// settingRows returns the settings that change, those that change alike as one; with Wide each.
func (o PlanOptions) settingRows(all []planned.SettingChange) []settingRow {
	if !o.Wide {
		all = planned.MergedSettings(all)
	}
	var rows []settingRow
	for _, c := range all {
		rows = append(rows, settingRow{c.Setting, valueWords(c.From), valueWords(c.To)})
	}
	return rows
}

func fieldRows(all []planned.ProposedField) []settingRow {
	var rows []settingRow
	for _, f := range all {
		rows = append(rows, settingRow{f.Path, valueWords(f.From), valueWords(f.To)})
	}
	return rows
}

func valueWords(value *string) string {
	if value == nil {
		return phrase.Nothing
	}
	return *value
}

// settings prints settings with their old and new values. A name is never broken: one that leaves no room for the values
// has them below it.
func (o PlanOptions) settings(w io.Writer, rows []settingRow) {
	width, column := layout.Width(w), 0
	for _, r := range rows {
		if n := layout.Cells(r.name); width == 0 || n <= width/2 {
			column = max(column, n)
		}
	}
	for _, r := range rows {
		sign := o.in(o.signColor(plan.Alters), string(plan.Alters)) + " "
		values := r.from + " → " + r.to
		if n := layout.Cells(r.name); n <= column {
			layout.Entry(w, sign+r.name+strings.Repeat(" ", column-n+gap), values)
			continue
		}
		layout.Line(w, "%s", sign+r.name)
		layout.Entry(w, "    ", values)
	}
}
