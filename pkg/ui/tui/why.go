package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// whyReport returns what blocks a process group, or the cluster for no group; nil before the first preview.
func (s clusterView) whyReport(id string) *why.Report {
	report := s.snapshot().Why
	if report == nil || id == "" {
		return report
	}
	about := report.About(id)
	return &about
}

// whyLines returns the report about a process group, or the cluster for no group, as the command `why` prints it.
func (s clusterView) whyLines(id string, width int, head line) []line {
	return s.ofReport(id, head, func(v why.Report) []line { return reportLines(ui.WhyLines(v, s.now, width-len(indent))) })
}

// causesOf returns only the causes of that report, beside other details.
func (s clusterView) causesOf(id string, head line) []line {
	return s.ofReport(id, head, func(v why.Report) []line {
		if len(v.Items) == 0 {
			return []line{styledLine(plain, indent+v.Summary)}
		}
		return reportLines(ui.WhyCauses(v, s.now))
	})
}

// ofReport returns a report unless the frame knows better: a preview is older, and has nothing of what came after it.
func (s clusterView) ofReport(id string, head line, render func(why.Report) []line) []line {
	report := s.whyReport(id)
	if report == nil {
		return []line{head, styledLine(faint, indent+"unknown: no preview of a pass yet")}
	}
	lines := []line{head}
	switch {
	case len(report.Items) == 0 && s.isUnknown(id):
		lines = append(lines, line{styled(unsure, indent+markUnknown+" "), styled(warn, "unknown: the database does not answer now")})
	case len(report.Items) == 0 && s.changedAfter(id, report.AsOf):
		lines = append(lines, line{styled(unsure, indent+markUnknown+" "), styled(warn, "unknown: the state is newer than the preview")})
	default:
		lines = append(lines, render(*report)...)
	}
	return append(lines, styledLine(faint, indent+"previewed "+s.age(report.AsOf)+" ago"))
}

// reportLines returns what a command prints, with its commands apart, since they are broken and copied as such.
func reportLines(printed [][]ui.TonedText) []line {
	var lines []line
	for _, pieces := range printed {
		l := line{styled(plain, indent)}
		for i, p := range pieces {
			if rest := strings.TrimLeft(p.Text, " └"); i == 0 { // what is broken continues below its beginning
				l, p.Text = append(l, styled(faint, strings.TrimSuffix(p.Text, rest))), rest
			}
			t := p.Tone
			if layout.IsCommand(strings.TrimLeft(p.Text, " ")) {
				t = paint.Command
			}
			l = append(l, styled(t, p.Text))
		}
		lines = append(lines, l)
	}
	return lines
}

// isUnknown reports whether the state of a process group is unknown, or of any for no group.
func (s clusterView) isUnknown(id string) bool {
	return slices.ContainsFunc(s.snapshot().Groups.Items, func(g inspect.GroupView) bool {
		return (id == "" || g.ID == id) && (g.ConditionsUnknown || g.Processes == nil)
	})
}

// changedAfter reports whether a process group, or any for no group, got into its state after a
// time: a preview of that time does not have it.
func (s clusterView) changedAfter(id string, at *time.Time) bool {
	return at != nil && slices.ContainsFunc(s.snapshot().Groups.Items, func(g inspect.GroupView) bool {
		return (id == "" || g.ID == id) && slices.ContainsFunc(g.Conditions, func(c inspect.ConditionView) bool { return c.Since != nil && c.Since.After(*at) })
	})
}
