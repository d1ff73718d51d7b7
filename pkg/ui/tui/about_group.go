package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
