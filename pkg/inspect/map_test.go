package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The map and the mark of the list are of one judge: no group that is unknown is good, and none that is down is better
// than one that is up.
func TestTheStateOfAProcessGroupDecidesItsMark(t *testing.T) {
	tests := map[string]struct {
		given func(*GroupView)
		want  GroupState
		mark  string
	}{
		"its process reports":                              {func(*GroupView) {}, GroupUp, "✓"},
		"it reports, and its pod is outdated":              {func(g *GroupView) { g.Conditions = []ConditionView{{Type: "IncorrectPodSpec"}} }, GroupUp, "!"},
		"the database does not answer":                     {func(g *GroupView) { g.Processes = nil }, GroupUnknown, "?"},
		"no process reports":                               {func(g *GroupView) { g.Processes = new(0) }, GroupDown, "✗"},
		"no process has ever reported":                     {func(g *GroupView) { g.Processes, g.Zone = new(0), "" }, GroupNew, "!"},
		"it is marked for removal":                         {func(g *GroupView) { g.RemovalSince = &noon }, GroupDraining, "!"},
		"it is excluded":                                   {func(g *GroupView) { g.Exclusion = ExclusionMoving }, GroupDraining, "!"},
		"it is excluded, and no process reports":           {func(g *GroupView) { g.Exclusion, g.Processes = ExclusionMoving, new(0) }, GroupDown, "✗"},
		"it is removed, and its process ended":             {func(g *GroupView) { g.RemovalSince, g.Processes = &noon, new(0) }, GroupDraining, "!"},
		"it is removed while the database does not answer": {func(g *GroupView) { g.RemovalSince, g.Processes = &noon, nil }, GroupUnknown, "!"},
		"the database does not report its exclusions":      {func(g *GroupView) { g.Exclusion = ExclusionUnknown }, GroupUp, "?"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := GroupView{ID: "storage-1", Zone: "zone-1", Processes: new(1), Exclusion: NotExcluded}
			tc.given(&g)
			if got, mark := g.State(), g.Tone().Mark(); got != tc.want || mark != tc.mark {
				t.Errorf("%s with mark %s, want %s with %s", got, mark, tc.want, tc.mark)
			}
		})
	}
}

func TestAZoneIsLostByItsNodesOrWithoutAnyByItsProcessGroups(t *testing.T) {
	node := func(name string, ready *bool, zones ...string) NodeView {
		return NodeView{Name: name, Zones: zones, Exists: new(true), Ready: ready}
	}
	group := func(id, zone string, processes *int) GroupView {
		return GroupView{ID: id, Class: "storage", Zone: zone, Processes: processes, Exclusion: NotExcluded}
	}
	tests := map[string]struct {
		groups []GroupView
		nodes  []NodeView
		want   []string
	}{
		"all nodes are ready":                         {[]GroupView{group("a", "z1", new(1))}, []NodeView{node("n1", new(true), "z1")}, nil},
		"its only node is not ready":                  {[]GroupView{group("a", "z1", new(1))}, []NodeView{node("n1", new(false), "z1")}, []string{"z1"}},
		"one of its nodes is ready":                   {[]GroupView{group("a", "z1", new(0))}, []NodeView{node("n1", new(false), "z1"), node("n2", new(true), "z1")}, nil},
		"its only process group is down on its node":  {[]GroupView{group("a", "z1", new(0))}, []NodeView{node("n1", new(true), "z1")}, nil},
		"no node is left, and all groups are down":    {[]GroupView{group("a", "z1", new(0)), group("b", "z2", new(1))}, []NodeView{node("n2", new(true), "z2")}, []string{"z1"}},
		"no node is left, and the groups are unknown": {[]GroupView{group("a", "z1", nil)}, nil, nil},
		"groups without a zone":                       {[]GroupView{group("a", "", new(0))}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NewMap(tc.groups, tc.nodes).Lost()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestZonesOfAMapAreInTheOrderOfTheirNumbers(t *testing.T) {
	m := NewMap([]GroupView{{Zone: "node-10"}, {Zone: ""}, {Zone: "node-9"}, {Zone: "east"}}, nil)
	var names []string
	for _, z := range m.Zones {
		names = append(names, z.Name)
	}
	if diff := cmp.Diff([]string{"east", "node-9", "node-10", ""}, names); diff != "" {
		t.Error(diff)
	}
}
