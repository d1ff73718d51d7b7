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
	for _, c := range worstFirst(g.Conditions) {
		t := conditionTone(c.Type)
		lines = append(lines, line{{"  " + t.mark() + " ", t}, styled(t, c.Type), styled(plain, " for "+s.since(c.Since))})
	}
	if len(g.Conditions) == 0 {
		lines = append(lines, line{{"  " + markGood + " ", good}, styled(plain, "no conditions")})
	}
	lines = append(lines, s.locationOf(g)...)
	lines = append(lines, s.databaseOf(g)...)
	lines = append(lines, s.whyOf(id, heading("Why"))...)
	return append(lines, commandLines(s.commandsFor(g)...)...)
}

// locationOf returns where the processes of a group run.
func (s clusterView) locationOf(g inspect.GroupView) []line {
	pod := g.Pod + ", " + podCell(g)
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
		fact("roles", rolesCell(g.Roles)), fact("coordinator", g.CoordinatorWords()),
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
	if groupTone(g) == bad {
		add(s.o.fdb("can", "replace", s.cluster(), g.ID), s.o.fdb("replace", s.cluster(), g.ID, "--dry-run"))
	}
	return commands
}
