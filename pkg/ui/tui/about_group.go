package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// cluster returns the name of the displayed cluster.
func (s clusterView) cluster() string { return s.snapshot().Metadata.Cluster }

// group returns a process group by its ID.
func (s clusterView) group(id string) (inspect.GroupView, bool) {
	items := s.snapshot().Groups.Items
	i := slices.IndexFunc(items, func(g inspect.GroupView) bool { return g.ID == id })
	if i < 0 || id == "" {
		return inspect.GroupView{}, false
	}
	return items[i], true
}

func (s clusterView) podOf(id string) string {
	g, _ := s.group(id)
	return g.Pod
}

// aboutGroup returns the details of a process group.
func (s clusterView) aboutGroup(id string) []line {
	g, found := s.group(id)
	if !found {
		return nil
	}
	lines := []line{heading(g.ID + " (" + g.Class + ")")}
	lines = append(lines, s.conditionLines(g)...)
	lines = append(lines, s.locationOf(g)...)
	lines = append(lines, s.databaseOf(g)...)
	lines = append(lines, s.causesOf(id, heading("Why"))...)
	return append(lines, commandLines(s.commandsFor(g)...)...)
}

// conditionLines returns the conditions of a process group. None at all is good only where that is known.
func (s clusterView) conditionLines(g inspect.GroupView) []line {
	var lines []line
	for _, c := range inspect.WorstFirst(g.Conditions) {
		t := inspect.ConditionTone(c.Type)
		lines = append(lines, line{styled(t, "  "+t.Mark()+" "), styled(t, c.Type), styled(plain, " for "+s.since(c.Since))})
	}
	switch {
	case g.ConditionsUnknown && len(lines) > 0:
		lines = append(lines, line{styled(unsure, "  "+markUnknown+" "), styled(warn, "other conditions unknown"), styled(plain, ": these are of the last status update")})
	case g.ConditionsUnknown || g.Processes == nil:
		lines = append(lines, line{styled(unsure, "  "+markUnknown+" "), styled(warn, "conditions unknown")})
	case len(lines) == 0:
		lines = append(lines, line{styled(good, "  "+markGood+" "), styled(plain, "no conditions")})
	}
	if last := g.LastReport; last != nil {
		for _, c := range inspect.WorstFirst(last.Conditions) {
			lines = append(lines, styledLine(faint, "    "+c.Type+" until "+s.age(&last.AsOf)+" ago"))
		}
	}
	return lines
}

// aside returns what goes beside the details of a row: what a pass does about its process group
// and its events, or what blocks the cluster.
func (s clusterView) aside(r row) []line {
	if r.group != "" {
		return slices.Concat(s.planOf(r.group), s.eventLines(r.group))
	}
	return s.causesOf("", heading("What blocks "+s.cluster()))
}

// locationOf returns where the processes of a group run.
func (s clusterView) locationOf(g inspect.GroupView) []line {
	state := phrase.Or(g.Phase(), "none")
	if g.PodPhase != "" && g.NodeProblem != "" {
		state = fmt.Sprintf("unknown: node %s is %s (last phase %s)", g.Node, strings.ReplaceAll(string(g.NodeProblem), "-", " "), g.PodPhase)
	}
	if g.Restarts != nil && *g.Restarts > 0 {
		state += ", " + phrase.Count(*g.Restarts, "restart")
	}
	zone := phrase.Or(g.Zone, phrase.UnknownCell)
	if g.DC != "" {
		zone += " in " + g.DC
	}
	lines := []line{fact("pod", g.Pod), fact("phase", state), fact("node", phrase.Or(g.Node, phrase.Nothing)), fact("zone", zone)}
	if g.PVC != "" {
		lines = append(lines, fact("PVC", g.PVC))
	}
	if g.Image != "" {
		lines = append(lines, fact("image", g.Image))
	}
	return append(lines, fact("addresses", phrase.Or(strings.Join(g.Addresses, ", "), phrase.Nothing)))
}

// databaseOf returns what the database reports about the group.
func (s clusterView) databaseOf(g inspect.GroupView) []line {
	lines := []line{fact("processes", phrase.NumberOr(g.Processes, phrase.UnknownCell)+" reporting, up "+phrase.SecondsOr(g.UptimeSeconds, phrase.UnknownCell))}
	if last := g.LastReport; last != nil {
		text := fmt.Sprintf("%s, up %s, %s ago", phrase.Or(strings.Join(last.Roles, ", "), "no roles"), phrase.SecondsOr(last.UptimeSeconds, phrase.UnknownCell), s.age(&last.AsOf))
		lines = append(lines, factIn(faint, "last reported", text))
	}
	lines = append(lines, fact("roles", g.RolesCell().Text), fact("coordinator", g.CoordinatorWords()))
	if g.StoredBytes != nil {
		data := phrase.Bytes(*g.StoredBytes)
		if g.LagSeconds != nil {
			data += fmt.Sprintf(", %.1fs behind", *g.LagSeconds)
		}
		lines = append(lines, fact("data", data))
	}
	if g.Exclusion != inspect.NotExcluded {
		lines = append(lines, factIn(warn, "exclusion", string(g.Exclusion)))
	}
	if g.Kept {
		lines = append(lines, fact("kept", "by "+string(v1beta2.ExtensionCancelReplacements)))
	}
	if g.RemovalSince != nil {
		lines = append(lines, factIn(warn, "removal", "marked for "+s.since(g.RemovalSince)))
	}
	return lines
}

// commandsFor returns whole commands that help with the group: those of the chains first.
func (s clusterView) commandsFor(g inspect.GroupView) []string {
	var commands []string
	add := func(more ...string) {
		for _, c := range more {
			if c != "" && !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	if report := s.whyReport(g.ID); report != nil {
		for _, c := range report.Items {
			add(c.Next...)
		}
	}
	add(s.o.fdb("describe", "process-group", s.cluster(), g.ID))
	if g.PodPhase != "" {
		add(s.o.kubectl("describe", "pod", g.Pod), s.o.kubectl("logs", g.Pod, "--all-containers", "--tail=50"))
	}
	if g.Tone() == bad {
		add(s.o.fdb("can", "replace", s.cluster(), g.ID), s.o.fdb("replace", s.cluster(), g.ID, "--dry-run"))
	}
	return commands
}

// figures returns the numbers that describe a cluster, as many as fit into a line; nil before the first frame.
func (s clusterView) figures(width int) []line {
	if s.frame == nil {
		return nil
	}
	pieces := []line{{s.version()}, {s.groupsUp()}, {s.coordinatorsUp()}, {styled(plain, s.rate())}, {styled(plain, s.latency())}, {s.disk()}}
	return flowed(pieces, styled(faint, " · "), 0, width)[:1]
}

// version returns what the database runs, and how it replicates as far as that is known.
func (s clusterView) version() span {
	v := s.frame.Status
	text := phrase.Or(v.Database.Version, phrase.UnknownCell)
	if live := v.Configuration.Live; live != nil && live.RedundancyMode != "" {
		text += " " + live.RedundancyMode
	}
	return styled(plain, text)
}

// groupsUp returns how many process groups have processes that report, without those that are being removed.
func (s clusterView) groupsUp() span {
	up, unknown := 0, false
	all := slices.DeleteFunc(slices.Clone(s.frame.Groups.Items), func(g inspect.GroupView) bool { return g.RemovalSince != nil })
	for _, g := range all {
		unknown = unknown || g.Processes == nil
		if ptr.Deref(g.Processes, 0) > 0 {
			up++
		}
	}
	switch {
	case unknown:
		return styled(warn, fmt.Sprintf("%s/%d groups", phrase.UnknownCell, len(all)))
	case up < len(all):
		return styled(warn, fmt.Sprintf("%d/%d groups", up, len(all)))
	default:
		return styled(plain, fmt.Sprintf("%d/%d groups", up, len(all)))
	}
}

// coordinatorsUp returns how many coordinators answer.
func (s clusterView) coordinatorsUp() span {
	v, t := s.frame.Coordinators, plain
	if v.Reachable == nil || *v.Reachable < len(v.Items) {
		t = warn
	}
	if !ptr.Deref(v.QuorumReachable, true) {
		t = bad
	}
	return styled(t, fmt.Sprintf("%s/%d coordinators", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items)))
}

// rate returns how many transactions are committed per second.
func (s clusterView) rate() string {
	if v := s.frame.Workload; v != nil && v.Load.Transactions.CommittedPerSecond != nil {
		return workload.Rate(*v.Load.Transactions.CommittedPerSecond) + " tx/s"
	}
	return phrase.UnknownCell + " tx/s"
}

// latency returns what a commit takes.
func (s clusterView) latency() string {
	if v := s.frame.Workload; v != nil && v.Load.Latency.CommitSeconds != nil {
		return workload.Time(*v.Load.Latency.CommitSeconds) + " per commit"
	}
	return phrase.UnknownCell + " per commit"
}

// disk returns how full the fullest disk is.
func (s clusterView) disk() span {
	var fullest *float64
	for _, g := range s.frame.Groups.Items {
		if g.SpaceUsed != nil && (fullest == nil || *g.SpaceUsed > *fullest) {
			fullest = g.SpaceUsed
		}
	}
	if fullest == nil {
		return styled(plain, phrase.UnknownCell+" disk")
	}
	t := map[workload.Effect]tone{"": plain, workload.Near: warn, workload.Slows: bad}[workload.RuleOf(workload.DiskSpace).Effect(*fullest)]
	return styled(t, workload.Percent(*fullest)+" disk")
}

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
