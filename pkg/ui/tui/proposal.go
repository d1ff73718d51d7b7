package tui

import "time"

// proposalLines returns what a command would do, as the command itself prints it.
func proposalLines(p Proposal, width int) []line {
	var lines []line
	for _, text := range squeezed(p.Words, width-len("  ")) {
		lines = append(lines, styledLine(plain, "  "+text))
	}
	if p.Plan != nil {
		lines = append(lines, heading("Plan"))
		for _, c := range p.Plan.Refused() {
			lines = append(lines, checkLines(c)...)
		}
		for _, item := range p.Plan.Items {
			lines = append(lines, line{styled(plain, "  → "+string(item.Stage)+"  "), styled(plain, item.Summary)})
			if item.Impact != "none" {
				lines = append(lines, fact("", "impact: "+string(item.Impact)))
			}
		}
		for _, h := range p.Plan.Holds {
			lines = append(lines, line{{"  " + markWarn + " ", warn}, styled(plain, string(h.Stage)+"  "), styled(warn, h.Reason)})
		}
	}
	if p.CommandLine != "" {
		lines = append(lines, heading("Equivalent command"), styledLine(plain, "  "+p.CommandLine))
	}
	return lines
}

// confirmLine returns the confirmation prompt for the last line, where it is visible however
// long the plan is.
func confirmLine(seen tickCount, confirm, typed, leave string) line {
	if !seen.ready() {
		return line{styled(faint, "Read this first; esc goes back")}
	}
	if confirm == "" {
		return line{styled(strong, "Go ahead?"), styled(plain, " press enter, "+leave)}
	}
	return line{styled(strong, "Go ahead?"), styled(plain, " type "), styled(strong, confirm), styled(plain, " and press enter, "+leave+": "), styled(strong, typed+"▏")}
}

// progress returns the stages of passes since a time that acted or could not.
func (s clusterView) progress(since time.Time) []line {
	p := s.pass
	if p.number == 0 || (!p.ended.IsZero() && p.ended.Before(since)) {
		return nil
	}
	lines := []line{heading("Progress"), append(line{styled(plain, "  ")}, s.passSummary()...)}
	for _, st := range p.stages {
		for _, a := range st.actions {
			t, text := good, a.summary
			if a.failure != "" {
				t, text = bad, a.summary+": "+a.failure
			} else if a.ended.IsZero() {
				t, text = warn, a.summary+", for "+s.lastingSince(a.started)
			}
			lines = append(lines, line{{"  " + t.mark() + " ", t}, styled(plain, string(st.name)+"  "), styled(plain, text)})
		}
		if st.reason != "" && st.outcome != "done" && st.outcome != "changed" {
			t := toneOfOutcome(st.outcome)
			lines = append(lines, line{{"  " + t.mark() + " ", t}, styled(plain, string(st.name)+"  "), styled(t, st.outcome+": "+st.reason)})
		}
	}
	return lines
}
