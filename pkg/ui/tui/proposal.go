package tui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// indent is that of text in a pane.
const indent = "  "

// planText returns a plan as the command prints it.
func planText(v planned.PlanView, width int) []line {
	return reportLines(ui.PlanLines(v, width-len(indent)))
}

// proposalLines returns what a command would do, as the command itself prints it.
func proposalLines(p Proposal, width int) []line {
	var lines []line
	if p.Plan != nil {
		lines = append(lines, planText(*p.Plan, width)...)
	}
	for _, text := range cells.Squeezed(p.Words, width-len(indent)) {
		lines = append(lines, styledLine(plain, indent+text))
	}
	if p.CommandLine != "" {
		lines = append(lines, heading("Equivalent command"), styledLine(paint.Command, "  "+p.CommandLine))
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
	if p.Number == 0 || (!p.Ended.IsZero() && p.Ended.Before(since)) {
		return nil
	}
	lines := []line{heading("Progress"), append(line{styled(plain, "  ")}, s.passSummary()...)}
	for _, st := range p.Stages {
		for _, a := range st.Actions {
			t, text := good, a.Summary
			if a.Failure != "" {
				t, text = bad, a.Summary+": "+a.Failure
			} else if a.Ended.IsZero() {
				t, text = warn, a.Summary+", for "+s.lastingSince(a.Started)
			}
			lines = append(lines, line{styled(t, "  "+t.Mark()+" "), styled(plain, string(st.Name)+"  "), styled(plain, text)})
		}
		if st.Reason != "" && st.Outcome != "done" && st.Outcome != "changed" {
			t := toneOfOutcome(st.Outcome)
			lines = append(lines, line{styled(t, "  "+t.Mark()+" "), styled(plain, string(st.Name)+"  "), styled(t, st.Outcome+": "+st.Reason)})
		}
	}
	return lines
}
