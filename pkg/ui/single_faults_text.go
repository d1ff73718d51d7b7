package ui

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// singleFaults prints how the passes end with one fault at each step, and the story of the worst history.
func (o PlanOptions) singleFaults(w io.Writer, s *planned.SingleFaults) {
	if s == nil {
		return
	}
	fmt.Fprintln(w)
	title := o.in(bold, "Single faults:") + " "
	if s.Unavailable != nil {
		layout.Entry(w, title, "unavailable: "+noForecastWords(s.Unavailable))
		return
	}
	if len(s.Histories) == 0 {
		layout.Entry(w, title, "no step that anything can go wrong at")
		return
	}
	layout.Entry(w, title, fmt.Sprintf("%s: %s, worst pause %s, %d stuck, %s", phrase.CountOf(s.Complete, len(s.Histories), "simulation")+" complete with one fault at a step",
		dataLost(s.DataLost), inSeconds(s.MostPausedSeconds), s.Stuck, phrase.Count(s.Broken, "broken invariant")))
	layout.Entry(w, o.in(faint, "database:")+" ", fmt.Sprintf("at least %s of all data on processes that answer", phrase.Count(s.FewestCopies, "copy")))
	if worst := s.WorstHistory(); worst != nil {
		o.worstFault(w, worst)
	}
	layout.Entry(w, o.in(faint, "note:")+" ", "the answer of a model of FoundationDB and Kubernetes, which differs from real programs where its documentation lists it")
}

func dataLost(histories int) string {
	if histories == 0 {
		return "no data lost"
	}
	return "data lost in " + phrase.Count(histories, "simulation")
}

// worstFault prints the worst history.
func (o PlanOptions) worstFault(w io.Writer, worst *planned.SingleFault) {
	layout.Entry(w, o.in(faint, "worst:")+" ", fmt.Sprintf("%s; %s after %s", FaultSentence(*worst), worst.End, inSeconds(worst.Seconds)))
	for _, v := range worst.Violations {
		layout.Entry(w, "  "+o.in(bold, v.Invariant)+"  ", inspect.OneLine(v.Promise+": "+v.Evidence))
	}
	for _, e := range worst.Story {
		layout.Entry(w, "  "+inSeconds(e.Seconds)+"  ", inspect.OneLine(e.What))
	}
}

// FaultSentence returns what goes wrong in a history, where and when.
func FaultSentence(f planned.SingleFault) string {
	what := f.What
	if f.Group != "" {
		what += fmt.Sprintf(" (%s", f.Group)
		if f.Node != "" {
			what += " on " + f.Node
		}
		what += ")"
	}
	at := fmt.Sprintf("pass %d", f.Pass)
	if f.Stage != "" {
		at += fmt.Sprintf(", before the first %s of %s", f.Action, f.Stage)
	}
	return fmt.Sprintf("%s after %s: %s", what, inSeconds(f.FaultSeconds), at)
}
