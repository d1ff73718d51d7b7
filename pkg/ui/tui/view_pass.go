package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/passes"
)

// passPage shows the whole operation, what its pass does now and how each stage ended, and the runs of all users that have ended.
func passPage(s clusterView) page {
	p := stagesPage(s)
	if o := s.running(); o != nil {
		p = s.withOperation(p, *o)
	}
	p.addList(titles(inspect.RunColumns), s.finishedRows())
	return p
}

// withOperation returns the page of a pass below the operation that it belongs to.
func (s clusterView) withOperation(pass page, o inspect.OperationView) page {
	stages := pass.rows
	if len(pass.summary) > 0 {
		stages = append([]row{{cells: []span{styled(strong, pass.summary.Text())}}}, stages...)
	}
	replacements := s.replacementRows(o.Progress)
	clauses := s.operationClauses(o)
	if len(replacements) == 0 {
		pass.summary, pass.details, pass.rows = clauses[0].Line, clauses[1:], stages
		return pass
	}
	p := page{summary: clauses[0].Line, details: clauses[1:], columns: titles(inspect.ReplacementColumns), rows: replacements, notes: pass.notes}
	p.addList(pass.columns, stages)
	return p
}

// stagesPage shows what the pass does now, and how each stage ended.
func stagesPage(s clusterView) page {
	p := page{empty: s.noPass(), columns: []layout.Column{
		{Name: " "}, {Name: "STAGE", Min: 16}, {Name: "OUTCOME", Typical: 9}, {Name: "ACTIONS", Typical: 7, Right: true, Drop: 60}, {Name: "REASON", Min: 12},
	}}
	if s.pass.Number == 0 {
		return p
	}
	p.summary, p.rows = s.passSummary(), s.stageRows()
	for _, c := range s.pass.Refused {
		p.notes = append(p.notes, styledLine(bad, markBad+" "+strings.TrimSpace(string(c.Gate)+" "+c.Text())))
	}
	for _, text := range s.pass.Failures {
		p.notes = append(p.notes, styledLine(bad, markBad+" "+text))
	}
	if s.pass.Stopped != "" {
		p.notes = append(p.notes, styledLine(bad, markBad+" stopped early: "+s.pass.Stopped))
	}
	return p
}

// noPass returns the text before the first pass.
func (s clusterView) noPass() string {
	if s.o.Feed == nil {
		return "no pass in the recording so far"
	}
	return "no pass so far; --reconcile and action keys run passes"
}

// stageRows returns the stages that ran, acted or wait first: a pass has dozens, of which most
// have nothing to do.
func (s clusterView) stageRows() []row {
	var active, idle, later []row
	for i, st := range s.pass.Stages {
		r := s.stageRow(i, st)
		switch {
		case s.pass.Running == i+1, st.Outcome != "" && (st.Outcome != "done" || len(st.Actions) > 0):
			active = append(active, r)
		case st.Outcome != "":
			idle = append(idle, r)
		default:
			later = append(later, r)
		}
	}
	left := "pending"
	if !s.pass.Ended.IsZero() {
		left = "not reached"
	}
	return slices.Concat(active, under(idle, "with nothing to do"), under(later, left))
}

// under returns rows below a headline that counts them; nil for none.
func under(rows []row, what string) []row {
	if len(rows) == 0 {
		return nil
	}
	return append([]row{{cells: []span{styled(faint, phrase.Count(len(rows), "stage")+" "+what)}}}, rows...)
}

// passSummary returns the progress of the pass in one line.
func (s clusterView) passSummary() line {
	var l line
	for i, c := range s.passClauses() {
		if i > 0 {
			l = append(l, styled(faint, " · "))
		}
		l = append(l, c.Line...)
	}
	return l
}

// passClauses returns the progress of the pass; the header has it while it runs.
func (s clusterView) passClauses() []paint.Clause {
	p := s.pass
	name := fmt.Sprintf("pass %d", p.Number)
	if p.Preview {
		name = "preview"
	}
	if p.Round > 1 {
		name += fmt.Sprintf(", round %d", p.Round)
	}
	if !p.Ended.IsZero() {
		t := toneOfOutcome(p.Outcome)
		l := line{styled(t, t.Mark()+" "), styled(t, fmt.Sprintf("%s: %s", name, p.Outcome)), styled(plain, fmt.Sprintf(" after %s, %s done, ended %s ago", phrase.Duration(p.Ended.Sub(p.Started)), phrase.Count(p.Acted, "action"), s.lastingSince(p.Ended)))}
		return append([]paint.Clause{{Line: l}}, s.waitClauses()...)
	}
	clauses := []paint.Clause{{Line: styledLine(strong, name+" running for "+s.lastingSince(p.Started))}}
	if st, running := p.Now(); running {
		clauses = append(clauses, paint.Clause{Line: line{styled(plain, string(st.Name)), styled(strong, s.operation(st))}})
	}
	return clauses
}

// waitClauses returns when the next pass begins; nil if none is to come.
func (s clusterView) waitClauses() []paint.Clause {
	switch r := s.pass.Wait; {
	case r == nil:
		return nil
	case r.NoLaterThan == nil:
		return []paint.Clause{{Line: styledLine(faint, "waiting"), Drop: 1}}
	default:
		return []paint.Clause{{Line: styledLine(faint, "next within "+s.until(r.NoLaterThan)), Drop: 1}}
	}
}

// operation returns what a stage does now, and for how long.
func (s clusterView) operation(st passes.Stage) string {
	for _, a := range slices.Backward(st.Actions) {
		if a.Ended.IsZero() {
			return ": " + a.Summary + ", " + s.lastingSince(a.Started)
		}
	}
	if st.Busy == "" {
		return ""
	}
	return ": " + st.Busy + ", " + s.lastingSince(st.Since)
}

func toneOfOutcome(outcome string) tone {
	switch outcome {
	case "done", "changed":
		return good
	case "waiting":
		return warn
	case "blocked", "failed":
		return bad
	default:
		return faint
	}
}

func (s clusterView) stageRow(i int, st passes.Stage) row {
	t, outcome, reason := toneOfOutcome(st.Outcome), st.Outcome, st.Reason
	mark := t.Mark()
	switch {
	case s.pass.Running == i+1:
		t, mark, outcome, reason = strong, "●", "running", strings.TrimPrefix(s.operation(st), ": ")
	case outcome == "":
		mark, outcome = " ", phrase.Nothing
	case st.Outcome == "done" && len(st.Actions) == 0:
		t = faint
	}
	if reason == "" && len(st.Actions) > 0 {
		last := st.Actions[len(st.Actions)-1]
		reason = last.Summary
		if last.Failure != "" {
			reason += ": " + last.Failure
		}
	}
	done := 0
	for _, a := range st.Actions {
		if !a.Ended.IsZero() && a.Failure == "" {
			done++
		}
	}
	return row{key: fmt.Sprintf("%d %s", i, st.Name), tone: t, more: func(s clusterView) []line { return s.aboutStage(i) }, cells: []span{
		styled(t, mark), styled(plain, string(st.Name)), styled(t, outcome), styled(plain, fmt.Sprint(done)), styled(plain, phrase.Or(reason, phrase.Nothing)),
	}}
}

// aboutStage returns the details of a stage.
func (s clusterView) aboutStage(i int) []line {
	if i >= len(s.pass.Stages) {
		return nil
	}
	st := s.pass.Stages[i]
	outcome := phrase.Or(st.Outcome, phrase.Nothing)
	if s.pass.Running == i+1 {
		outcome = "running" + s.operation(st)
	}
	lines := []line{heading(string(st.Name)), factIn(toneOfOutcome(st.Outcome), "outcome", outcome), fact("reason", phrase.Or(st.Reason, phrase.Nothing)), fact("why", phrase.Or(st.Why, phrase.Nothing))}
	for _, c := range st.Checks {
		lines = append(lines, checkLines(c)...)
	}
	if len(st.Actions) > 0 {
		lines = append(lines, heading("Actions"))
	}
	for _, a := range st.Actions {
		switch {
		case a.Failure != "":
			lines = append(lines, line{styled(bad, "  "+markBad+" "), styled(plain, a.Summary+": "), styled(bad, a.Failure)})
		case a.Ended.IsZero():
			lines = append(lines, line{styled(strong, "  ● "), styled(plain, a.Summary+", for "+s.lastingSince(a.Started))})
		default:
			lines = append(lines, line{styled(good, "  "+markGood+" "), styled(plain, a.Summary+", took "+phrase.Duration(a.Ended.Sub(a.Started)))})
		}
	}
	return lines
}
