package ui

import (
	"io"
	"slices"

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
