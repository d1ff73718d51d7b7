package inspect_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deadCoordinator is a cluster one of whose coordinators does not answer: its process does not
// report, and the database and the connection string still name it.
func deadCoordinator(t *testing.T) (f inspect.Facts, id string) {
	t.Helper()
	f = healthy(t)
	all := f.Database.Status.Client.Coordinators.Coordinators
	id = f.Coordinator(inspect.CoordinatorView{Address: all[0].Address.String()}).Group
	all[0].Reachable = false
	for key, p := range f.Database.Status.Cluster.Processes {
		if p.InstanceID() == id {
			delete(f.Database.Status.Cluster.Processes, key)
		}
	}
	return f, id
}

func TestAnUnreachableCoordinatorIsStillListedAsACoordinator(t *testing.T) {
	tests := map[string]struct {
		given     func(f *inspect.Facts, id string)
		words     string
		reachable *bool
		roles     string // part of the cell
	}{
		"its process does not report": {func(*inspect.Facts, string) {}, "yes, not reachable", new(false), "coordinator(not reachable)"},
		"the database does not answer": {func(f *inspect.Facts, _ string) {
			f.Database = plan.DatabaseFacts{NotQueried: "no pod runs"}
		}, "yes", nil, "?"},
		"another process came to its address": {func(f *inspect.Facts, _ string) {
			for key, p := range f.Database.Status.Cluster.Processes {
				p.Address = f.Database.Status.Client.Coordinators.Coordinators[0].Address
				f.Database.Status.Cluster.Processes[key] = p
				return
			}
		}, "no", nil, "-"},
		"the coordinators were changed": {func(f *inspect.Facts, _ string) {
			seen := &f.Database.Status.Client.Coordinators
			seen.Coordinators = slices.Delete(seen.Coordinators, 0, 1)
		}, "no", nil, "-"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, id := deadCoordinator(t)
			tc.given(&f, id)
			v := inspect.NewGroupListView(meta, f)
			i := slices.IndexFunc(v.Items, func(g inspect.GroupView) bool { return g.ID == id })
			g := v.Items[i]
			if g.CoordinatorWords() != tc.words || !strings.Contains(g.RolesCell().Text, tc.roles) {
				t.Errorf("coordinator %q, roles %q", g.CoordinatorWords(), g.RolesCell().Text)
			}
			text, err := json.Marshal(g)
			var back inspect.GroupView
			if err != nil || json.Unmarshal(text, &back) != nil {
				t.Fatal(err)
			}
			if (back.CoordinatorReachable == nil) != (tc.reachable == nil) || ptr.Deref(back.CoordinatorReachable, false) || ptr.Deref(back.Coordinator, false) != strings.HasPrefix(tc.words, "yes") {
				t.Errorf("JSON: %s", text)
			}
		})
	}
}
