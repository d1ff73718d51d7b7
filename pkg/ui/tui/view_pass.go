package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// passPage answers: what does the pass do right now, and how did each step end?
func passPage(s sight) page {
	p := page{empty: s.noPass(), columns: []column{
		{title: " "}, {title: "STEP", least: 16}, {title: "OUTCOME"}, {title: "DID", right: true}, {title: "REASON", least: 20},
	}}
	if s.pass.number == 0 {
		return p
	}
	p.says, p.rows = s.passSays(), s.stageRows()
	for _, c := range s.pass.refused {
		p.notes = append(p.notes, sayLine(bad, markBad+" "+strings.TrimSpace(string(c.Gate)+" "+c.Words())))
	}
	for _, text := range s.pass.failures {
		p.notes = append(p.notes, sayLine(bad, markBad+" "+text))
	}
	if s.pass.stopped != "" {
		p.notes = append(p.notes, sayLine(bad, markBad+" stopped early: "+s.pass.stopped))
	}
	return p
}

// noPass is what to say while no pass was told of.
func (s sight) noPass() string {
	if s.o.Feed == nil && len(s.o.Replay) > 0 {
		return "the recording has told of no pass so far"
	}
	return "this screen saw no pass so far; --reconcile runs them, and keys that act do"
}

// stageRows are the steps that say something first: a pass has dozens, of which most find
// nothing to do.
func (s sight) stageRows() []row {
	var telling, idle, rest []row
	for i, st := range s.pass.stages {
		r := s.stageRow(i, st)
		switch {
		case s.pass.running == i+1, st.outcome != "" && (st.outcome != "done" || len(st.actions) > 0):
			telling = append(telling, r)
		case st.outcome != "":
			idle = append(idle, r)
		default:
			rest = append(rest, r)
		}
	}
	left := "to come"
	if !s.pass.ended.IsZero() {
		left = "the pass did not come to"
	}
	return slices.Concat(telling, under(idle, "with nothing to do"), under(rest, left))
}

// under are rows below a headline that counts them; none for none.
func under(rows []row, what string) []row {
	if len(rows) == 0 {
		return nil
	}
	return append([]row{{cells: []span{say(faint, phrase.Count(len(rows), "step")+" "+what)}}}, rows...)
}

// passSays is where the pass is, in one line; the header has it while it runs.
func (s sight) passSays() line {
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
		l := line{{t.mark() + " ", t}, say(t, fmt.Sprintf("%s: %s", name, p.outcome)), say(plain, fmt.Sprintf(" after %s, %s done, ended %s ago", phrase.Duration(p.ended.Sub(p.started)), phrase.Count(p.acted, "action"), s.lastingSince(p.ended)))}
		return append(l, s.restSays()...)
	}
	l := line{say(strong, name+" runs for "+s.lastingSince(p.started))}
	if st, running := p.now(); running {
		l = append(l, say(plain, " · "+string(st.name)), say(strong, s.doing(st)))
	}
	return l
}

// restSays is when the next pass begins.
func (s sight) restSays() line {
	r := s.pass.resting
	if r == nil {
		return nil
	}
	if r.noLaterThan == nil {
		return line{say(faint, " · rests")}
	}
	return line{say(faint, " · next within "+s.until(r.noLaterThan))}
}

// doing is what a stage does now, and for how long.
func (s sight) doing(st stage) string {
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

func (s sight) stageRow(i int, st stage) row {
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
	return row{key: fmt.Sprintf("%d %s", i, st.name), tone: t, more: func(s sight) []line { return s.aboutStage(i) }, cells: []span{
		{mark, t}, say(plain, string(st.name)), say(t, outcome), say(plain, fmt.Sprint(done)), say(plain, phrase.Or(reason, phrase.Nothing)),
	}}
}

// aboutStage is all that a step did.
func (s sight) aboutStage(i int) []line {
	if i >= len(s.pass.stages) {
		return nil
	}
	st := s.pass.stages[i]
	outcome := phrase.Or(st.outcome, phrase.Nothing)
	if s.pass.running == i+1 {
		outcome = "running" + s.doing(st)
	}
	lines := []line{heading(string(st.name)), factIn(toneOfOutcome(st.outcome), "outcome", outcome), fact("reason", phrase.Or(st.reason, phrase.Nothing)), fact("wants", phrase.Or(st.why, phrase.Nothing))}
	for _, c := range st.checks {
		lines = append(lines, checkLines(c)...)
	}
	if len(st.actions) > 0 {
		lines = append(lines, heading("Actions"))
	}
	for _, a := range st.actions {
		switch {
		case a.failure != "":
			lines = append(lines, line{{"  " + markBad + " ", bad}, say(plain, a.summary+": "), say(bad, a.failure)})
		case a.ended.IsZero():
			lines = append(lines, line{{"  ● ", strong}, say(plain, a.summary+", for "+s.lastingSince(a.started))})
		default:
			lines = append(lines, line{{"  " + markGood + " ", good}, say(plain, a.summary+", took "+phrase.Duration(a.ended.Sub(a.started)))})
		}
	}
	return lines
}
