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
	for _, c := range inspect.WorstFirst(g.Conditions) {
		t := inspect.ConditionTone(c.Type)
		lines = append(lines, line{styled(t, "  "+t.Mark()+" "), styled(t, c.Type), styled(plain, " for "+s.since(c.Since))})
	}
	if len(g.Conditions) == 0 {
		lines = append(lines, line{styled(good, "  "+markGood+" "), styled(plain, "no conditions")})
	}
	lines = append(lines, s.locationOf(g)...)
	lines = append(lines, s.databaseOf(g)...)
	lines = append(lines, s.whyOf(id, heading("Why"))...)
	return append(lines, commandLines(s.commandsFor(g)...)...)
}

// aside returns what goes beside the details of a row: what a pass does about its process group
// and its events, or what blocks the cluster.
func (s clusterView) aside(r row) []line {
	if r.group != "" {
		return slices.Concat(s.planOf(r.group), s.eventLines(r.group))
	}
	return s.whyOf("", heading("What blocks "+s.cluster()))
}

// phase returns the phase of the pod of a process group; empty without a pod.
func (s clusterView) phase(g inspect.GroupView) string {
	return inspect.GroupRow{GroupView: &g, NodeDown: s.down[g.Node]}.Phase()
}

// locationOf returns where the processes of a group run.
func (s clusterView) locationOf(g inspect.GroupView) []line {
	pod := g.Pod + ", " + phrase.Or(s.phase(g), "none")
	if g.PodPhase != "" && s.down[g.Node] {
		pod = fmt.Sprintf("%s, unknown: node %s is not ready (last phase %s)", g.Pod, g.Node, g.PodPhase)
	}
	if g.Restarts != nil && *g.Restarts > 0 {
		pod += ", " + phrase.Count(*g.Restarts, "restart")
	}
	zone := phrase.Or(g.Zone, phrase.UnknownCell)
	if g.DC != "" {
		zone += " in " + g.DC
	}
	lines := []line{fact("pod", pod), fact("node", phrase.Or(g.Node, phrase.Nothing)), fact("zone", zone)}
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
	lines := []line{
		fact("processes", phrase.NumberOr(g.Processes, phrase.UnknownCell)+" reporting, up "+phrase.SecondsOr(g.UptimeSeconds, phrase.UnknownCell)),
		fact("roles", g.RolesCell().Text), fact("coordinator", g.CoordinatorWords()),
	}
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

// whyOf returns what blocks a process group, or the cluster for no group: from the state down
// to its cause.
func (s clusterView) whyOf(id string, head line) []line {
	lines := []line{head}
	report := s.snapshot().Why
	if report == nil {
		return append(lines, styledLine(faint, "  unknown: no preview of a pass yet"))
	}
	chains := s.chainsOf(id)
	for _, c := range chains {
		lines = append(lines, s.chainLines(c)...)
		if id == "" {
			lines = append(lines, nextLines(c)...)
		}
	}
	if len(chains) == 0 && s.changedAfter(id, report.AsOf) {
		lines = append(lines, line{styled(unsure, "  "+markUnknown+" "), styled(warn, "unknown: the state is newer than the preview")})
	} else if len(chains) == 0 {
		lines = append(lines, styledLine(plain, "  nothing blocks it"))
	}
	if id == "" && report.Outage != nil {
		lines = append(lines, outageLines(*report.Outage)...)
	}
	return append(lines, styledLine(faint, "  previewed "+s.age(report.AsOf)+" ago"))
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
		lines = append(lines, line{styled(faint, "    next: "), styled(plain, next)})
	}
	return lines
}

// outageLines returns what to do about an outage.
func outageLines(v why.OutageView) []line {
	lines := []line{{styled(strong, "  What to do: "), styled(bad, v.Text())}}
	for i, s := range v.Steps {
		lines = append(lines, styledLine(plain, fmt.Sprintf("  %d. %s", i+1, s.Message)), styledLine(faint, "     "+s.Command))
	}
	return lines
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
