package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// nodesPage answers: which node or zone is in trouble, and when does what follow from it?
func nodesPage(s sight) page {
	v := s.look().Nodes
	p := page{empty: "no pod of the cluster runs on any node", columns: []column{
		{title: " "},
		{title: "NODE", least: 12},
		{title: "ZONE", least: 5},
		{title: "READY"},
		{title: "CORDON"},
		{title: "TAINTS", least: 8},
		{title: "FOR", right: true, from: 110},
		{title: "DETECT", right: true},
		{title: "REPLACE", right: true},
		{title: "PGS", right: true},
		{title: "COORD", right: true},
		{title: "CLASSES", least: 9, from: 110},
	}}
	zones := s.zonesOfNodes()
	troubled, unsures := 0, 0
	for _, n := range v.Items {
		r := s.nodeRow(n, zones[n.Name])
		switch {
		case r.tone >= warn:
			troubled++
		case r.tone == unsure:
			unsures++
		}
		p.rows = append(p.rows, r)
		if n.Note != "" {
			p.notes = append(p.notes, sayLine(faint, n.Name+": "+n.Note))
		}
	}
	slices.SortStableFunc(p.rows, func(a, b row) int { return cmp.Compare(b.tone, a.tone) })
	p.says = line{say(plain, phrase.Count(len(v.Items), "node")+", "), say(toneOfCount(troubled), fmt.Sprintf("%d with trouble", troubled))}
	if unsures > 0 {
		p.says = append(p.says, say(warn, fmt.Sprintf(", %d unknown", unsures)))
	}
	p.says = append(p.says, s.zonesSay()...)
	if v.Hidden != "" {
		p.notes = append(p.notes, sayLine(warn, markWarn+" taints and rules are not checked: "+v.Hidden))
	}
	return p
}

func toneOfCount(n int) tone {
	if n > 0 {
		return warn
	}
	return good
}

// zonesSay is which zones are silent and which is under maintenance.
func (s sight) zonesSay() line {
	var l line
	v := s.look().Status
	if silent := v.FaultTolerance.ZonesNotReporting; len(silent) > 0 {
		l = append(l, say(bad, " · "+markBad+" silent: "+strings.Join(silent, ", ")))
	}
	if v.Database.MaintenanceZone != "" {
		l = append(l, say(warn, " · "+markWarn+" maintenance of "+v.Database.MaintenanceZone+", "+phrase.SecondsOr(v.Database.MaintenanceLeft, phrase.UnknownCell)+" left"))
	}
	return l
}

// zonesOfNodes are the zones of the process groups on each node.
func (s sight) zonesOfNodes() map[string]string {
	on := map[string]map[string]bool{}
	for _, g := range s.look().Groups.Items {
		if g.Node == "" || g.Zone == "" {
			continue
		}
		if on[g.Node] == nil {
			on[g.Node] = map[string]bool{}
		}
		on[g.Node][g.Zone] = true
	}
	zones := map[string]string{}
	for node, of := range on {
		zones[node] = strings.Join(slices.Sorted(maps.Keys(of)), ",")
	}
	return zones
}

func (s sight) nodeRow(n ui.NodeView, zone string) row {
	t := gravityOfNode(n)
	detect, replace := phrase.Nothing, phrase.Nothing
	if len(n.MatchedRules) > 0 && len(n.ProcessGroups) > 0 {
		detect, replace = n.DetectWords(s.until), n.ReplaceWords(s.until)
	}
	since := phrase.Nothing
	if n.TaintedSince != nil {
		since = s.age(n.TaintedSince)
	}
	return row{key: n.Name, node: n.Name, tone: t, more: func(s sight) []line { return s.aboutNode(n.Name) }, cells: []span{
		{t.mark(), t},
		say(toneOfID(t), n.Name), say(plain, phrase.Or(zone, phrase.UnknownCell)), say(t, n.ReadyWord()), say(plain, phrase.YesNo(n.Unschedulable, phrase.UnknownCell)),
		say(plain, taintsCell(n)), say(plain, since), say(t, detect), say(t, replace),
		say(plain, strconv.Itoa(len(n.ProcessGroups))), say(plain, strconv.Itoa(n.Coordinators)), say(plain, classesCell(n)),
	}}
}

func gravityOfNode(n ui.NodeView) tone {
	switch {
	case !ptr.Deref(n.Exists, true), !ptr.Deref(n.Ready, true), n.IsSilent():
		return bad
	case ptr.Deref(n.Unschedulable, false), len(n.Taints) > 0:
		return warn
	case n.Ready == nil:
		return unsure
	default:
		return good
	}
}

func taintsCell(n ui.NodeView) string {
	if n.Taints == nil {
		return phrase.UnknownCell
	}
	return phrase.Or(strings.Join(n.Taints, ","), phrase.Nothing)
}

func classesCell(n ui.NodeView) string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(n.Classes)) {
		words = append(words, fmt.Sprintf("%s:%d", class, n.Classes[class]))
	}
	return phrase.Or(strings.Join(words, ","), phrase.Nothing)
}

// aboutNode is all there is to say of a node.
func (s sight) aboutNode(name string) []line {
	items := s.look().Nodes.Items
	i := slices.IndexFunc(items, func(n ui.NodeView) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	n := items[i]
	lines := []line{
		heading("Node " + name), fact("ready", n.ReadyWord()), fact("cordoned", phrase.YesNo(n.Unschedulable, phrase.UnknownCell)), fact("zone", phrase.Or(s.zonesOfNodes()[name], phrase.UnknownCell)),
	}
	for _, taint := range n.Taints {
		lines = append(lines, fact("taint", taint))
	}
	for _, r := range n.MatchedRules {
		lines = append(lines, fact("rule", r.Words()))
	}
	if n.TaintedSince != nil {
		lines = append(lines, fact("tainted for", s.since(n.TaintedSince)), fact("noted in", n.DetectWords(s.until)), fact("replaced in", n.ReplaceWords(s.until)))
	}
	if n.Note != "" {
		lines = append(lines, fact("note", n.Note))
	}
	lines = append(lines, heading("Process groups"))
	for _, g := range s.look().Groups.Items {
		if g.Node == name {
			lines = append(lines, line{say(plain, "  "), {gravity(g).mark(), gravity(g)}, say(plain, " "+g.ID+"  "), say(gravity(g), s.conditions(g))})
		}
	}
	return append(lines, commandLines(s.o.fdb("get", "nodes", s.cluster()), s.o.kubectl("describe", "node", name), s.o.fdb("drain", name, "--dry-run"))...)
}
