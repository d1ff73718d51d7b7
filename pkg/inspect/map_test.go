package inspect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
		"it is marked for removal":                         {func(g *GroupView) { g.RemovalSince = &noon }, GroupDraining, "▸"},
		"it is excluded":                                   {func(g *GroupView) { g.Exclusion = ExclusionMoving }, GroupDraining, "▸"},
		"it is excluded, and no process reports":           {func(g *GroupView) { g.Exclusion, g.Processes = ExclusionMoving, new(0) }, GroupDown, "✗"},
		"it is removed, and its process ended":             {func(g *GroupView) { g.RemovalSince, g.Processes = &noon, new(0) }, GroupDraining, "▸"},
		"it is removed while the database does not answer": {func(g *GroupView) { g.RemovalSince, g.Processes = &noon, nil }, GroupUnknown, "?"},
		"it is marked, and differs from a new spec": {func(g *GroupView) {
			g.RemovalSince, g.Conditions = &noon, []ConditionView{{Type: "IncorrectPodSpec"}, {Type: "ProcessIsMarkedAsExcluded"}, {Type: "ResourcesTerminating"}}
		}, GroupDraining, "▸"},
		"it is marked, and its pod is pending":        {func(g *GroupView) { g.RemovalSince, g.Conditions = &noon, []ConditionView{{Type: "PodPending"}} }, GroupDraining, "!"},
		"the database does not report its exclusions": {func(g *GroupView) { g.Exclusion = ExclusionUnknown }, GroupUp, "?"},
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

// offNode gives facts their nodes, one of which is not ready.
func offNode(f Facts, name string) Facts {
	f.Nodes = map[string]*corev1.Node{}
	for _, pod := range f.Pods {
		ready := corev1.ConditionTrue
		if pod.Spec.NodeName == name {
			ready = corev1.ConditionUnknown
		}
		f.Nodes[pod.Spec.NodeName] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
		}
	}
	return f
}

func TestProcessGroupsAreListedWorstFirst(t *testing.T) {
	tests := map[string]struct {
		given func(f *Facts)
		want  []string // the first ones
	}{
		"all are fine": {func(*Facts) {}, []string{"log-1", "log-2", "log-3"}},
		"one has a bad condition, one another": {func(f *Facts) {
			f.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionMissingProcesses, f.Now.Add(-time.Minute))
			f.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionIncorrectPodSpec, f.Now.Add(-time.Hour))
		}, []string{"storage-3", "storage-1", "log-1"}},
		"a node is lost while the database does not answer, and another group has a recorded condition": {func(f *Facts) {
			*f = offNode(*f, "node-2")
			f.Database = plan.DatabaseFacts{Unreachable: "a timeout"}
			f.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionMissingProcesses, f.Now.Add(-time.Hour))
		}, []string{"storage-2", "storage-1", "log-1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			var got []string
			for _, g := range NewGroupListView(meta, f).Items[:len(tc.want)] {
				got = append(got, g.ID)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v first, want %v", got, tc.want)
			}
		})
	}
}

// What Kubernetes and the connection string show stays while the database does not answer.
func TestRowsKeepWhatOtherSourcesShowWithoutTheDatabase(t *testing.T) {
	f := offNode(healthy(t), "node-12")
	delete(f.Pods, f.Cluster.ProcessGroup("log-3").PodName(f.Cluster))
	f.Database = plan.DatabaseFacts{Unreachable: "a timeout"}
	cells := map[string]string{}
	for _, g := range NewGroupListView(meta, f).Items {
		cells[g.ID] = g.ConditionsCell(list.At{Now: f.Now}).Text + " " + g.RolesCell().Text + " " + g.Tone().Mark()
	}
	for id, want := range map[string]string{
		"log-2": "node-not-ready,? ?,coordinator ✗", "log-3": "pod-missing,? ?,coordinator ✗", "storage-1": "? ? ?",
	} {
		if cells[id] != want {
			t.Errorf("%s has %q, want %q", id, cells[id], want)
		}
	}
}

func TestANodeThatIsNotReadyShowsWhileItsProcessesReport(t *testing.T) {
	f := offNode(healthy(t), "node-2")
	g := f.Group(f.Cluster.ProcessGroup("storage-2"))
	if cell := g.ConditionsCell(list.At{Now: f.Now}).Text; cell != "node-not-ready" || g.Tone() != list.Warn {
		t.Errorf("%q in tone %d", cell, g.Tone())
	}
	if got := g.Phase(); got != "?" {
		t.Errorf("the pod on a node that is not ready is %s", got)
	}
	if other := f.Group(f.Cluster.ProcessGroup("storage-1")); other.Phase() != "Running" || strings.Contains(other.ConditionsCell(list.At{}).Text, "node") {
		t.Errorf("the pod on a ready node is %s", other.Phase())
	}
}

func TestTheLastReportIsShownAsUnknownNow(t *testing.T) {
	f := healthy(t)
	f.Database = plan.DatabaseFacts{Unreachable: "a timeout"}
	g := f.Group(f.Cluster.ProcessGroup("storage-1"))
	g.LastReport = &LastReport{AsOf: f.Now.Add(-time.Minute), Roles: []string{"storage"}, UptimeSeconds: new(60.0), Conditions: []ConditionView{{Type: "IncorrectPodSpec"}}}
	at := list.At{Now: f.Now}
	for _, c := range []list.Cell{g.RolesCell(), g.uptimeCell(at)} {
		if !strings.HasPrefix(c.Text, "?(") || c.Tone != list.Faint {
			t.Errorf("%q in tone %d", c.Text, c.Tone)
		}
	}
	g.Coordinator, g.LastReport.Roles = new(true), []string{"coordinator", "storage"}
	if got := g.RolesCell().Text; got != "?(coordinator,storage)" {
		t.Errorf("roles %q", got)
	}
	if got := g.ConditionsCell(at).Text; got != "?(IncorrectPodSpec(?))" {
		t.Errorf("conditions %q", got)
	}
}
