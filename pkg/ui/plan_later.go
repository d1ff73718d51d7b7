package ui

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// refused prints the gates that keep a pass from starting.
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

// blocked prints the stages that do not continue by themselves, each with the checks that refused.
func (o PlanOptions) blocked(w io.Writer, holds []planned.PlanHold) {
	for _, h := range holds {
		if h.IsOrdinary() {
			continue
		}
		word := o.in(yellow, "waiting:")
		if h.ManualIntervention {
			word = o.in(red, "blocked:")
		}
		o.hold(w, word, h)
	}
}

func (o PlanOptions) hold(w io.Writer, word string, h planned.PlanHold) {
	layout.Entry(w, word+" ", string(h.Stage)+": "+inspect.OneLine(h.Reason)+after(h.Provisional))
	for _, c := range h.Refused {
		layout.Entry(w, "  "+o.checkWord(h.Nature)+" ", inspect.CheckWords(c))
	}
}

func after(stages []plan.StageName) string {
	if len(stages) == 0 {
		return ""
	}
	return " (re-evaluated after " + phrase.List(stages) + ")"
}

// later prints what continues by itself: each stage with what it waits for, and those that only follow others as one
// line. With Wide all of them have their checks.
func (o PlanOptions) later(w io.Writer, v planned.PlanView) {
	word := o.in(faint, "later:")
	var follow []plan.StageName
	for _, h := range v.Holds {
		switch {
		case !h.IsOrdinary():
		case o.Wide:
			o.hold(w, word, h)
		case h.Follows:
			follow = append(follow, h.Stage)
		default:
			o.oneLine(w, word, string(h.Stage)+WaitWords(h))
		}
	}
	if len(follow) > 0 {
		o.oneLine(w, word, "once these are done: "+phrase.List(follow))
	}
	o.pending(w, v)
	for _, h := range v.Pass.Housekeeping {
		layout.Entry(w, word+" ", h.Text())
	}
}

// oneLine prints what of a text fits into a line.
func (o PlanOptions) oneLine(w io.Writer, label, text string) {
	layout.Entry(w, label+" ", oneLine(text, layout.Width(w), layout.Cells(label)+1))
}

// WaitWords returns the gates that wait, with what they have and need, and what a stage waits for.
func WaitWords(h planned.PlanHold) string {
	var gates []string
	for _, c := range h.Refused {
		if word := gateWords(c); word != "" && !slices.Contains(gates, word) {
			gates = append(gates, word)
		}
	}
	reason := inspect.OneLine(h.Reason)
	if reason == "" && len(h.Refused) > 0 {
		reason = h.Refused[0].Text()
	}
	if len(gates) == 0 {
		return ": " + reason
	}
	return " (" + phrase.List(gates) + "): " + reason
}

// gateWords returns a gate with the value that it has, and the one that it needs.
func gateWords(c plan.Check) string {
	if c.Have == "" || c.Need == "" {
		return string(c.Gate)
	}
	return string(c.Gate) + ": have " + c.Have + ", need " + c.Need
}

// pending prints the checks of actions that do not hold yet, for stages that do not wait as a whole.
func (o PlanOptions) pending(w io.Writer, v planned.PlanView) {
	var printed []string
	for _, item := range v.Items {
		if slices.ContainsFunc(v.Holds, func(h planned.PlanHold) bool { return h.Stage == item.Stage }) {
			continue
		}
		for _, c := range item.Preconditions.Checks {
			if key := string(item.Stage) + " " + c.Key(); !c.OK && !slices.Contains(printed, key) {
				printed = append(printed, key)
				layout.Entry(w, o.checkWord(c.Nature())+" ", string(item.Stage)+": "+inspect.CheckWords(c))
			}
		}
	}
}

// PlanTotal is a part of the first line of a plan.
type PlanTotal struct {
	// Sign is that of what the part counts; empty for what is neither added nor removed.
	Sign plan.Sign
	Text string
	// Bad is true for what keeps passes from completing the plan.
	Bad bool
}

// PlanTotals returns the totals of a plan: of all passes with a forecast, else of the next pass. There are none for a plan
// that changes nothing.
func PlanTotals(v planned.PlanView) []PlanTotal {
	if v.Work() == 0 && len(v.Holds) == 0 && len(v.Refused()) == 0 {
		return nil
	}
	t := v.Totals()
	parts := counted(t)
	if len(parts) == 0 && t.Actions > 0 {
		parts = []PlanTotal{{Text: phrase.Count(t.Actions, "action")}}
	}
	switch {
	case v.Foresees():
		parts = append(parts, forecastTotal(v.Forecast))
	case len(parts) > 0:
		parts = append(parts, PlanTotal{Text: "in the next pass"})
	}
	return append(parts, obstacles(v)...)
}

// counted returns the totals that are not 0.
func counted(t planned.ForecastTotals) (parts []PlanTotal) {
	add := func(sign plan.Sign, n int, noun string) {
		if n > 0 {
			parts = append(parts, PlanTotal{Sign: sign, Text: strings.TrimSpace(string(sign) + " " + phrase.Count(n, noun))})
		}
	}
	add(plan.Adds, t.PodsCreated, "pod")
	add(plan.Removes, t.PodsDeleted, "pod")
	add(plan.Alters, t.ProcessesRestarted, "restart")
	add("", t.Recoveries, "recovery")
	if t.MovedBytes > 0 {
		parts = append(parts, PlanTotal{Text: phrase.Bytes(t.MovedBytes) + " to move"})
	}
	return parts
}

// forecastTotal returns how long all passes take, or how they end instead.
func forecastTotal(f *planned.Forecast) PlanTotal {
	about := "~" + inSeconds(f.Seconds)
	switch f.End {
	case planned.ForecastComplete:
		if f.Begins {
			return PlanTotal{Text: "begun in " + about}
		}
		return PlanTotal{Text: about}
	case planned.ForecastBlocked, planned.ForecastFailed:
		return PlanTotal{Text: string(f.End) + " after " + about, Bad: true}
	case planned.ForecastWaiting, planned.ForecastUnfinished, planned.ForecastUnavailable:
	}
	return PlanTotal{Text: "not complete after " + about, Bad: true}
}

// obstacles returns what requires a user before passes can complete the plan.
func obstacles(v planned.PlanView) (parts []PlanTotal) {
	if len(v.Refused()) > 0 {
		parts = append(parts, PlanTotal{Text: "no pass may start", Bad: true})
	}
	blocked := 0
	for _, h := range v.Holds {
		if h.ManualIntervention {
			blocked++
		}
	}
	if blocked > 0 {
		parts = append(parts, PlanTotal{Text: strconv.Itoa(blocked) + " blocked", Bad: true})
	}
	return parts
}

// totals prints the first line of a plan.
func (o PlanOptions) totals(w io.Writer, v planned.PlanView) { o.parts(w, PlanTotals(v)) }

func (o PlanOptions) parts(w io.Writer, totals []PlanTotal) {
	var parts []string
	for _, part := range totals {
		color := o.signColor(part.Sign)
		if part.Bad {
			color = red
		}
		parts = append(parts, o.in(color, part.Text))
	}
	if len(parts) > 0 {
		layout.Entry(w, "", strings.Join(parts, "  "))
	}
}

func (o PlanOptions) signColor(s plan.Sign) string {
	switch s {
	case plan.Adds:
		return green
	case plan.Removes:
		return red
	case plan.Alters:
		return yellow
	default:
		return bold
	}
}
