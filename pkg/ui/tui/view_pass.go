package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// passPage shows what the pass does now, and how each stage ended.
func passPage(s clusterView) page {
	p := page{empty: s.noPass(), columns: []column{
		{title: " "}, {title: "STAGE", least: 16}, {title: "OUTCOME"}, {title: "ACTIONS", right: true}, {title: "REASON", least: 20},
	}}
	if s.pass.number == 0 {
		return p
	}
	p.summary, p.rows = s.passSummary(), s.stageRows()
	for _, c := range s.pass.refused {
		p.notes = append(p.notes, styledLine(bad, markBad+" "+strings.TrimSpace(string(c.Gate)+" "+c.Words())))
	}
	for _, text := range s.pass.failures {
		p.notes = append(p.notes, styledLine(bad, markBad+" "+text))
	}
	if s.pass.stopped != "" {
		p.notes = append(p.notes, styledLine(bad, markBad+" stopped early: "+s.pass.stopped))
	}
	return p
}

// noPass returns the text before the first pass.
func (s clusterView) noPass() string {
	if s.o.Feed == nil && len(s.o.Replay) > 0 {
		return "no pass in the recording so far"
	}
	return "no pass so far; --reconcile and action keys run passes"
}

// stageRows returns the stages that ran, acted or wait first: a pass has dozens, of which most
// have nothing to do.
func (s clusterView) stageRows() []row {
	var active, idle, later []row
	for i, st := range s.pass.stages {
		r := s.stageRow(i, st)
		switch {
		case s.pass.running == i+1, st.outcome != "" && (st.outcome != "done" || len(st.actions) > 0):
			active = append(active, r)
		case st.outcome != "":
			idle = append(idle, r)
		default:
			later = append(later, r)
		}
	}
	left := "pending"
	if !s.pass.ended.IsZero() {
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

// passSummary returns the progress of the pass, in one line; the header has it while it runs.
func (s clusterView) passSummary() line {
	p := s.pass
	name := fmt.Sprintf("pass %d", p.number)
	if p.preview {
		name = "preview"
	}
	if p.round > 1 {
		name += fmt.Sprintf(", round %d", p.round)
	}
	if !p.ended.IsZero() {
		t := toneOfOutcome(p.outcome)
		l := line{{t.mark() + " ", t}, styled(t, fmt.Sprintf("%s: %s", name, p.outcome)), styled(plain, fmt.Sprintf(" after %s, %s done, ended %s ago", phrase.Duration(p.ended.Sub(p.started)), phrase.Count(p.acted, "action"), s.lastingSince(p.ended)))}
		return append(l, s.waitSummary()...)
	}
	l := line{styled(strong, name+" running for "+s.lastingSince(p.started))}
	if st, running := p.now(); running {
		l = append(l, styled(plain, " · "+string(st.name)), styled(strong, s.doing(st)))
	}
	return l
}

// waitSummary returns when the next pass begins.
func (s clusterView) waitSummary() line {
	r := s.pass.wait
	if r == nil {
		return nil
	}
	if r.noLaterThan == nil {
		return line{styled(faint, " · waiting")}
	}
	return line{styled(faint, " · next within "+s.until(r.noLaterThan))}
}

// doing returns what a stage does now, and for how long.
func (s clusterView) doing(st stage) string {
	for _, a := range slices.Backward(st.actions) {
		if a.ended.IsZero() {
			return ": " + a.summary + ", " + s.lastingSince(a.started)
		}
	}
	if st.busy == "" {
		return ""
	}
	return ": " + st.busy + ", " + s.lastingSince(st.since)
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

func (s clusterView) stageRow(i int, st stage) row {
	t, outcome, reason := toneOfOutcome(st.outcome), st.outcome, st.reason
	mark := t.mark()
	switch {
	case s.pass.running == i+1:
		t, mark, outcome, reason = strong, "●", "running", strings.TrimPrefix(s.doing(st), ": ")
	case outcome == "":
		mark, outcome = " ", phrase.Nothing
	case st.outcome == "done" && len(st.actions) == 0:
		t = faint
	}
	if reason == "" && len(st.actions) > 0 {
		last := st.actions[len(st.actions)-1]
		reason = last.summary
		if last.failure != "" {
			reason += ": " + last.failure
		}
	}
	done := 0
	for _, a := range st.actions {
		if !a.ended.IsZero() && a.failure == "" {
			done++
		}
	}
	return row{key: fmt.Sprintf("%d %s", i, st.name), tone: t, more: func(s clusterView) []line { return s.aboutStage(i) }, cells: []span{
		{mark, t}, styled(plain, string(st.name)), styled(t, outcome), styled(plain, fmt.Sprint(done)), styled(plain, phrase.Or(reason, phrase.Nothing)),
	}}
}

// aboutStage returns the details of a stage.
func (s clusterView) aboutStage(i int) []line {
	if i >= len(s.pass.stages) {
		return nil
	}
	st := s.pass.stages[i]
	outcome := phrase.Or(st.outcome, phrase.Nothing)
	if s.pass.running == i+1 {
		outcome = "running" + s.doing(st)
	}
	lines := []line{heading(string(st.name)), factIn(toneOfOutcome(st.outcome), "outcome", outcome), fact("reason", phrase.Or(st.reason, phrase.Nothing)), fact("why", phrase.Or(st.why, phrase.Nothing))}
	for _, c := range st.checks {
		lines = append(lines, checkLines(c)...)
	}
	if len(st.actions) > 0 {
		lines = append(lines, heading("Actions"))
	}
	for _, a := range st.actions {
		switch {
		case a.failure != "":
			lines = append(lines, line{{"  " + markBad + " ", bad}, styled(plain, a.summary+": "), styled(bad, a.failure)})
		case a.ended.IsZero():
			lines = append(lines, line{{"  ● ", strong}, styled(plain, a.summary+", for "+s.lastingSince(a.started))})
		default:
			lines = append(lines, line{{"  " + markGood + " ", good}, styled(plain, a.summary+", took "+phrase.Duration(a.ended.Sub(a.started)))})
		}
	}
	return lines
}
