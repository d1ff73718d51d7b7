package ui

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss/tree"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// describedEvents is how many events are printed as text; documents have all.
const describedEvents = 10

// WriteGroupDescription prints one process group, section by section.
func WriteGroupDescription(w io.Writer, v describe.GroupDescription, o StatusOptions) error {
	p := &page{w: w, o: o}
	g := v.Group
	p.printf("%s\n", o.in(bold, v.Metadata.Namespace+"/"+v.Metadata.Cluster+"  "+g.ID))
	p.printf("%s\n", o.in(colorOfWhy(v.Why.State), v.Why.Summary))
	for _, warning := range v.Warnings {
		p.entry(o.in(yellow, "warning:")+" ", warning)
	}
	p.title("Process group")
	p.fact("Class", g.Class)
	p.fact("Zone", phrase.Or(g.Zone, phrase.UnknownCell))
	p.fact("Addresses", phrase.Or(strings.Join(g.Addresses, ", "), phrase.Nothing))
	p.fact("Roles", g.RolesCell().Text)
	if ptr.Deref(g.Coordinator, false) {
		p.fact("Coordinator", g.CoordinatorWords())
	}
	p.fact("Exclusion", string(g.Exclusion))
	p.fact("Removal", p.ago(g.RemovalSince, "not marked"))
	p.kept(v.Kept)
	for _, c := range g.Conditions {
		p.fact("Condition", c.Type+", "+p.seen(c)+p.ago(c.Since, "start unknown"))
	}
	if len(g.Conditions) == 0 {
		p.fact("Conditions", phrase.Nothing)
	}
	p.processes(v.Processes)
	p.pod(v.Pod, g.Pod)
	p.volume(v)
	p.title("Eviction and replacement")
	p.checks("Evict", v.Evict)
	p.checks("Replace", v.Replace)
	p.reasons(v.Why)
	p.events(v.Events)
	p.commands(v.Commands)
	return p.err
}

// kept prints how the spec keeps a process group; nothing if it does not.
func (p *page) kept(v *inspect.KeptView) {
	if v == nil {
		return
	}
	p.fact("Kept", "by "+v.Field)
	for _, why := range v.MarkedWithout {
		p.fact("", "marked without it: "+why)
	}
	if v.ExcludedSince != nil {
		p.fact("", "excluded "+p.ago(v.ExcludedSince, phrase.UnknownCell))
	}
	if v.StoredBytes != nil && v.ExpectedBytes != nil {
		p.fact("", fmt.Sprintf("data %s of %s expected", phrase.Bytes(*v.StoredBytes), phrase.Bytes(*v.ExpectedBytes)))
	}
}

// liveBackups prints a line for each backup and restore; nothing where there is none.
func (p *page) liveBackups(v *inspect.ClusterBackupsView) {
	if v == nil || v.Unread == "" && len(v.Backups)+len(v.Restores) == 0 {
		return
	}
	p.title("Backups")
	if v.Unread != "" {
		p.fact("Backups", "unknown: "+v.Unread)
	}
	for _, b := range v.Backups {
		p.fact("Backup", b.Name+": "+backupRowWords(b))
	}
	for _, r := range v.Restores {
		p.fact("Restore", r.Name+": "+restoreRowWords(r))
	}
}

func (p *page) title(name string) { p.printf("\n%s\n", p.o.in(bold, name)) }

// ago returns a time as an age, or as it is.
func (p *page) ago(t *time.Time, otherwise string) string {
	switch {
	case t == nil:
		return otherwise
	case p.o.Absolute:
		return t.Format(time.RFC3339)
	default:
		return phrase.Duration(p.o.Now.Sub(*t)) + " ago"
	}
}

func (p *page) processes(processes []describe.DescribedProcess) {
	p.title("Processes")
	switch {
	case processes == nil:
		p.fact("Reporting", phrase.UnknownCell)
	case len(processes) == 0:
		p.fact("Reporting", "none")
	}
	for _, v := range processes {
		words := []string{v.Version, phrase.Or(strings.Join(v.Roles, ","), "no roles")}
		if v.UptimeSeconds != nil {
			words = append(words, "up "+phrase.Seconds(*v.UptimeSeconds))
		}
		if v.Coordinator && !slices.Contains(v.Roles, "coordinator") {
			words = append(words, "coordinator")
		}
		if v.Excluded != nil && *v.Excluded {
			words = append(words, "excluded")
		}
		p.fact(v.Address, strings.Join(append(words, v.Messages...), ", "))
	}
}

func (p *page) pod(v *describe.PodView, name string) {
	p.title("Pod")
	if v == nil {
		p.fact("Name", name+", which does not exist")
		return
	}
	p.fact("Name", v.Name)
	p.fact("Phase", v.Phase)
	p.fact("Node", phrase.Or(v.Node, phrase.Nothing))
	p.fact("IPs", phrase.Or(strings.Join(v.IPs, ", "), phrase.Nothing))
	p.fact("Created", p.ago(v.Created, phrase.UnknownCell))
	if v.Deleted != nil {
		p.fact("Ends", p.o.ends(*v.Deleted))
	}
	if len(v.Finalizers) > 0 {
		p.fact("Finalizers", strings.Join(v.Finalizers, ", "))
	}
	for _, c := range v.Containers {
		p.fact("Container", fmt.Sprintf("%s, %s, ready: %s, %s", c.Name, c.Image, phrase.YesNo(&c.Ready, phrase.UnknownCell), phrase.Count(c.Restarts, "restart")))
	}
	for _, c := range v.Conditions {
		p.fact("Condition", c)
	}
	if v.Problem != "" {
		p.fact("Problem", v.Problem)
	}
}

// ends is when a pod's grace period ends or ended.
func (o StatusOptions) ends(at time.Time) string {
	switch left := at.Sub(o.Now); {
	case o.Absolute:
		return at.Format(time.RFC3339)
	case left > 0:
		return "in " + phrase.Duration(left)
	default:
		return "should have ended " + phrase.Duration(-left) + " ago"
	}
}

func (p *page) volume(v describe.GroupDescription) {
	p.title("PVC")
	switch {
	case v.Volume != nil:
		p.fact("Name", v.Volume.Name)
		p.fact("Phase", phrase.Or(v.Volume.Phase, phrase.UnknownCell))
		p.fact("Capacity", phrase.Or(v.Volume.Capacity, phrase.UnknownCell))
		p.fact("Volume", phrase.Or(v.Volume.Volume, phrase.Nothing)+", class "+phrase.Or(v.Volume.Class, phrase.Nothing))
	case v.Group.PVC != "":
		p.fact("Name", v.Group.PVC+", which does not exist")
	default:
		p.fact("Name", phrase.Nothing)
	}
}

// checks prints the first check that refuses, or that none does.
func (p *page) checks(what string, checks []plan.Check) {
	for _, c := range checks {
		if !c.OK {
			p.fact(what, "no: "+inspect.CheckWords(c))
			return
		}
	}
	p.fact(what, "yes")
}

func (p *page) reasons(v why.Report) {
	if len(v.Items) == 0 {
		return
	}
	p.printf("\n%s", p.o.in(bold, "Why"))
	chains := &whyPage{w: p.w, o: WhyOptions{ListOptions: ListOptions{Paint: p.o.Paint, Absolute: p.o.Absolute, Now: p.o.Now}}}
	for _, c := range v.Items {
		c.Next = nil // the commands come at the end
		chains.chain(c)
	}
	if p.err == nil {
		p.err = chains.err
	}
}

func (p *page) events(events []describe.ObjectEvent) {
	p.title("Events")
	if events == nil {
		p.printf("  %s\n", phrase.UnknownCell)
	}
	if events != nil && len(events) == 0 {
		p.printf("  %s\n", phrase.Nothing)
	}
	for _, e := range events[max(0, len(events)-describedEvents):] {
		times := ""
		if e.Count > 1 {
			times = " x" + strconv.Itoa(e.Count)
		}
		p.fact(p.ago(e.Last, phrase.UnknownCell), fmt.Sprintf("%s %s%s  %s: %s", e.Type, e.Reason, times, e.Object, e.Message))
	}
}

func (p *page) commands(commands []string) {
	p.title("Commands")
	seen := map[string]bool{}
	for _, c := range commands {
		if !seen[c] {
			p.entry("  ", c)
		}
		seen[c] = true
	}
}

// WriteClusterDescription prints a cluster: its status, its groups by node, what blocks it,
// and events.
func WriteClusterDescription(w io.Writer, v describe.ClusterDescription, o StatusOptions) error {
	if err := WriteStatus(w, v.Status, o); err != nil {
		return err
	}
	p := &page{w: w, o: o}
	for _, warning := range v.Warnings {
		p.entry(o.in(yellow, "warning:")+" ", warning)
	}
	p.title("Nodes")
	for _, node := range nodeNames(v) {
		p.fact(node, strings.Join(v.Nodes[node], ", "))
	}
	if len(v.Nodes) == 0 {
		p.printf("  %s\n", phrase.Nothing)
	}
	p.liveBackups(v.Backups)
	p.reasons(v.Why)
	p.events(v.Events)
	p.commands(v.Commands)
	return p.err
}

// nodeNames are the nodes in order.
func nodeNames(v describe.ClusterDescription) []string { return slices.Sorted(maps.Keys(v.Nodes)) }

// guide is the width of the lines that a level of a tree is drawn with.
const guide = 4

// WriteTree prints a cluster and its objects as a tree. Lines wrap within their level.
func WriteTree(w io.Writer, v describe.Tree, o StatusOptions) error {
	p := &page{w: w, o: o}
	_, err := fmt.Fprintln(w, p.branch(v.Root, 0))
	return err
}

func (p *page) branch(i describe.TreeItem, depth int) *tree.Tree {
	t := tree.Root(p.leaf(i, depth))
	for _, child := range i.Children {
		t.Child(p.branch(child, depth+1))
	}
	return t
}

// seen precedes a time that is later than the start: that of the first pass that found the condition.
func (p *page) seen(c inspect.ConditionView) string {
	if c.Since == nil || c.Source != safety.OutageFirstSeen {
		return ""
	}
	return "first seen "
}

// condition returns a condition and for how long it has held, where that is known.
func (p *page) condition(c inspect.ConditionView) string {
	switch {
	case c.Since == nil:
		return c.Type
	case p.o.Absolute:
		return c.Type + " since " + c.Since.Format(time.RFC3339)
	default:
		return c.Type + " for " + phrase.Duration(p.o.Now.Sub(*c.Since))
	}
}

// leaf returns the lines of one item: "ProcessGroup storage-1  not reporting; storage, zone z1,
// MissingProcesses for 3m".
func (p *page) leaf(i describe.TreeItem, depth int) string {
	notes := slices.Clone(i.Notes)
	for _, c := range i.Conditions {
		notes = append(notes, p.condition(c))
	}
	text := i.Kind + " " + i.Name + "  " + i.State
	if len(notes) > 0 {
		text += "; " + strings.Join(notes, ", ")
	}
	text = layout.OneLine(p.w, text)
	lines := []string{text}
	if width := layout.Width(p.w); width > 0 {
		lines = layout.Wrap(text, width-guide*depth, 2)
	}
	if i.Problem {
		for n, line := range lines {
			lines[n] = p.o.in(yellow, line)
		}
	}
	return strings.Join(lines, "\n")
}
