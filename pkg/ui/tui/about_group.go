package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
	lines = append(lines, s.whyOf(id, heading("Why"))...)
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
	return s.whyOf("", heading("What blocks "+s.cluster()))
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
	for _, c := range s.chainsOf(g.ID) {
		add(c.Next...)
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

// maxNamed is the maximum number of names that a heading lists; others are counted.
const maxNamed = 3

// chainsOf returns the chains of a process group; all of them for no group.
func (s clusterView) chainsOf(id string) []why.Chain {
	v := s.snapshot().Why
	if v == nil {
		return nil
	}
	var chains []why.Chain
	for _, c := range v.Items {
		if id == "" || slices.Contains(c.Subjects, id) {
			chains = append(chains, c)
		}
	}
	return chains
}

// whyOf returns what blocks a process group beside its other details, which have the commands, or the cluster for no group.
func (s clusterView) whyOf(id string, head line) []line {
	if id == "" {
		return s.whyInFull(id, head)
	}
	return s.whyWith(id, head, func(why.Chain) []line { return nil })
}

// whyInFull returns what blocks a process group, or the cluster for no group, and what to do next.
func (s clusterView) whyInFull(id string, head line) []line { return s.whyWith(id, head, nextLines) }

// whyWith goes from the state down to its cause, and ends each chain with what to do next.
func (s clusterView) whyWith(id string, head line, next func(why.Chain) []line) []line {
	lines := []line{head}
	report := s.snapshot().Why
	if report == nil {
		return append(lines, styledLine(faint, "  unknown: no preview of a pass yet"))
	}
	chains := s.chainsOf(id)
	for _, c := range chains {
		lines = append(append(lines, s.chainLines(c)...), next(c)...)
	}
	if len(chains) == 0 && s.isUnknown(id) {
		lines = append(lines, line{styled(unsure, "  "+markUnknown+" "), styled(warn, "unknown: the database does not answer now")})
	} else if len(chains) == 0 && s.changedAfter(id, report.AsOf) {
		lines = append(lines, line{styled(unsure, "  "+markUnknown+" "), styled(warn, "unknown: the state is newer than the preview")})
	} else if len(chains) == 0 {
		lines = append(lines, styledLine(plain, "  nothing blocks it"))
	}
	if id == "" && report.Outage != nil {
		lines = append(lines, outageLines(*report.Outage)...)
	}
	return append(lines, styledLine(faint, "  previewed "+s.age(report.AsOf)+" ago"))
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

// chainLines returns a chain without what to do next.
func (s clusterView) chainLines(c why.Chain) []line {
	t := toneOfWhy(c.State)
	state := phrase.Some(c.Subjects, maxNamed) + " " + c.Summary
	if c.Since != nil {
		state += ", for " + s.age(c.Since)
	}
	lines := []line{{styled(t, "  "+t.Mark()+" "), styled(t, string(c.State)+"  "), styled(plain, state)}}
	return append(lines, s.linkLines(c.Reasons, "    ")...)
}

func nextLines(c why.Chain) []line {
	var lines []line
	for _, next := range c.Next {
		lines = append(lines, line{styled(faint, "    next: "), styled(toneOfHint(next), next)})
	}
	return lines
}

// outageLines returns what to do about an outage.
func outageLines(v why.OutageView) []line {
	lines := []line{{styled(strong, "  What to do: "), styled(bad, v.Text())}}
	for i, s := range v.Steps {
		lines = append(lines, styledLine(plain, fmt.Sprintf("  %d. %s", i+1, s.Message)), line{styled(plain, "     "), styled(paint.Command, s.Command)})
	}
	return lines
}

// toneOfHint is that of a command to copy, or of a sentence.
func toneOfHint(hint string) tone {
	if layout.IsCommand(hint) {
		return paint.Command
	}
	return plain
}

func (s clusterView) linkLines(links []why.Link, indent string) []line {
	var lines []line
	for _, l := range links {
		words := strings.Join(slices.DeleteFunc([]string{string(l.Stage), l.Subject, string(l.Gate)}, func(w string) bool { return w == "" }), " ")
		if words != "" {
			words += ": "
		}
		what := words + l.Message
		if l.Since != nil {
			what += ", for " + s.age(l.Since)
		}
		lines = append(lines, line{styled(faint, indent+"└ "), styled(plain, what)})
		if l.Have != "" || l.Need != "" {
			lines = append(lines, line{styled(faint, indent+"  "), styled(plain, "have "+phrase.Or(l.Have, phrase.UnknownCell)+", need "+phrase.Or(l.Need, phrase.UnknownCell))})
		}
		lines = append(lines, s.linkLines(l.Reasons, indent+"   ")...)
	}
	return lines
}

func toneOfWhy(state why.State) tone {
	switch state {
	case why.Ready:
		return good
	case why.Waiting:
		return warn
	default:
		return bad
	}
}
