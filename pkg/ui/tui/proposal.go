package tui

import "time"

// proposalLines are what a command would do, as the command itself says it.
func proposalLines(p Proposal, width int) []line {
	var lines []line
	for _, text := range squeezed(p.Words, width-len("  ")) {
		lines = append(lines, sayLine(plain, "  "+text))
	}
	if p.Plan != nil {
		lines = append(lines, heading("Plan"))
		for _, c := range p.Plan.Refused() {
			lines = append(lines, checkLines(c)...)
		}
		for _, item := range p.Plan.Items {
			lines = append(lines, line{say(plain, "  → "+string(item.Stage)+"  "), say(plain, item.Summary)})
			if item.Impact != "none" {
				lines = append(lines, fact("", "impact: "+string(item.Impact)))
			}
		}
		for _, h := range p.Plan.Holds {
			lines = append(lines, line{{"  " + markWarn + " ", warn}, say(plain, string(h.Stage)+"  "), say(warn, h.Reason)})
		}
	}
	if p.CommandLine != "" {
		lines = append(lines, heading("The same by a command"), sayLine(plain, "  "+p.CommandLine))
	}
	return lines
}

// confirmLine is what is left to say yes, in the last line of the screen: there it is
// seen however long the plan is.
func confirmLine(ready bool, confirm, typed, leave string) line {
	if !ready {
		return line{say(faint, "Read this first; esc goes back")}
	}
	if confirm == "" {
		return line{say(strong, "Go ahead?"), say(plain, " enter does it, "+leave)}
	}
	return line{say(strong, "Go ahead?"), say(plain, " type "), say(strong, confirm), say(plain, " and press enter, "+leave+": "), say(strong, typed+"▏")}
}

// progress is what passes did since a moment: steps that did something or could not.
func (s sight) progress(since time.Time) []line {
	p := s.pass
	if p.number == 0 || (!p.ended.IsZero() && p.ended.Before(since)) {
		return nil
	}
	lines := []line{heading("Progress"), append(line{say(plain, "  ")}, s.passSays()...)}
	for _, st := range p.stages {
		for _, a := range st.actions {
			t, text := good, a.summary
			if a.failure != "" {
				t, text = bad, a.summary+": "+a.failure
			} else if a.ended.IsZero() {
				t, text = warn, a.summary+", for "+s.lastingSince(a.started)
			}
			lines = append(lines, line{{"  " + t.mark() + " ", t}, say(plain, string(st.name)+"  "), say(plain, text)})
		}
		if st.reason != "" && st.outcome != "done" && st.outcome != "changed" {
			t := toneOfOutcome(st.outcome)
			lines = append(lines, line{{"  " + t.mark() + " ", t}, say(plain, string(st.name)+"  "), say(t, st.outcome+": "+st.reason)})
		}
	}
	return lines
}
