package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

// idleFleet is a source that sends nothing; tests send lists themselves.
type idleFleet struct{}

func (idleFleet) FollowAll(ctx context.Context, _ func(fleet.List)) { <-ctx.Done() }

// threeClusters is a list with one healthy cluster, one that lost a node, and one that cannot be
// read.
func threeClusters() fleet.List {
	healthy, degraded := well().Status, lost().Status
	healthy.Database.Version, degraded.Database.Version = "7.3.79", "7.3.79"
	degraded.ProcessGroups.Reconciled, healthy.ProcessGroups.Reconciled = 8, 12
	healthy.Locks.LeaseRead, degraded.Locks.LeaseRead = true, true
	degraded.Locks.Operation = &inspect.OperationView{ID: "run7", Command: "replace storage-3 --wait", User: "ops@laptop", Since: ago(time.Minute), Seen: ago(time.Second), Active: true}
	return fleet.List{AsOf: ago(time.Second), Clusters: []fleet.Cluster{
		{Namespace: "fdb", Name: "sample", Status: &healthy, AsOf: ago(2 * time.Second)},
		{Namespace: "shop", Name: "orders", Status: &degraded, AsOf: ago(3 * time.Second), Changed: ago(4 * time.Minute)},
		{Namespace: "shop", Name: "secret", Unread: "pods is forbidden: user ops cannot list resource pods in namespace shop"},
	}}
}

func overFleet(t *testing.T, width, height int) model {
	t.Helper()
	m := shown(t, width, height, Options{Fleet: idleFleet{}, Clusters: []string{"fdb/sample", "shop/orders", "shop/secret"}, Actions: &acting{}})
	m.o.Namespace = ""
	return after(m, fleetMsg{threeClusters()})
}

func TestTheClusterListFitsEveryTerminalSize(t *testing.T) {
	var b strings.Builder
	for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}, {200, 60}} {
		m := overFleet(t, size[0], size[1])
		fmt.Fprintf(&b, "# %dx%d\n%s", size[0], size[1], kept(m.View()))
		if why := misfit(m); why != "" {
			t.Errorf("%v: %s", size, why)
		}
	}
	golden.RequireEqual(t, []byte(b.String()))
}

// One that cannot be read hides no other, and shows why.
func TestTheDashboardListShowsAnUnreadableClusterWithItsReason(t *testing.T) {
	m := pressed(overFleet(t, 120, 40), "G")
	view := m.View()
	for _, want := range []string{"3 clusters, 2 with problems", "sample", "orders", "secret", "pods is forbidden"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
}

// A cluster that was deleted is not switched to, unless it is displayed.
func TestTabDoesNotShowDeletedClusters(t *testing.T) {
	m := pressed(overFleet(t, 120, 40), "enter")
	if view := m.View(); !strings.Contains(view, "fdb/sample in prod (1 of 3)") {
		t.Fatal(view)
	}
	list := threeClusters()
	list.Clusters = slices.Delete(list.Clusters, 1, 2)
	m = pressed(after(m, fleetMsg{list}), "tab")
	if view := m.View(); m.name() != "shop/secret" || !strings.Contains(view, "shop/secret in prod (2 of 2)") {
		t.Errorf("%s:\n%s", m.name(), view)
	}
	list.Clusters = list.Clusters[:1]
	m = after(m, fleetMsg{list})
	if view := m.View(); !strings.Contains(view, "shop/secret in prod (2 of 2)") {
		t.Errorf("the displayed one is not counted:\n%s", view)
	}
	if m = pressed(m, "tab"); m.name() != "fdb/sample" || strings.Contains(m.View(), " of 2)") {
		t.Errorf("%s:\n%s", m.name(), m.View())
	}
}

func TestEnterOpensAClusterAndEscapeReturns(t *testing.T) {
	m := pressed(overFleet(t, 120, 40), "j", "enter")
	if m.inFleet() || m.name() != "shop/orders" {
		t.Fatalf("enter shows %s", m.name())
	}
	m = after(m, entryMsg{Entry: Entry{At: noon, Cluster: "shop/orders", Frame: lost()}})
	if view := m.View(); !strings.Contains(view, "shop/orders") || !strings.Contains(view, "[1 groups]") {
		t.Error(view)
	}
	if m = pressed(m, "enter", "esc"); m.inFleet() {
		t.Error("esc closes a pane first")
	}
	if m = pressed(m, "esc"); !m.inFleet() {
		t.Error("esc does not return to the list")
	}
	if r, _ := m.chosenRow(); r.key != "shop/orders" {
		t.Errorf("selected is %s", r.key)
	}
	if m = pressed(m, "2"); m.inFleet() || m.view != 1 || m.name() != "shop/orders" {
		t.Errorf("2 shows view %d of %s", m.view, m.name())
	}
}

// Nothing on the list acts on a cluster that is not displayed.
func TestActionKeysDoNothingInTheClusterList(t *testing.T) {
	for _, b := range bindings() {
		if b.section != sectionAct {
			continue
		}
		for _, k := range b.keys {
			m := overFleet(t, 120, 40)
			if m = pressed(m, k); m.work != nil {
				t.Errorf("%s: %v", k, m.work.ask)
			}
		}
	}
}

// Command lines about a cluster are about its namespace.
func TestDashboardCommandLinesNameTheNamespace(t *testing.T) {
	m := overFleet(t, 120, 40)
	m.o.CommandsIn = func(namespace string) (fdb, kubectl func(...string) string) {
		line := func(words ...string) string { return strings.Join(words, " ") + " -n " + namespace }
		return line, line
	}
	m = pressed(m, "j", "enter")
	m = after(m, entryMsg{Entry: Entry{At: noon, Cluster: "shop/orders", Frame: lost()}})
	if view := pressed(m, "enter").View(); !strings.Contains(view, "describe process-group sample log-2 -n shop") {
		t.Error(view)
	}
}
