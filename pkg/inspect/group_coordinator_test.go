package inspect

import (
	"testing"

	"k8s.io/utils/ptr"
)

func TestTheGroupListShowsAReachableCoordinator(t *testing.T) {
	f := healthy(t)
	address := f.Database.Status.Client.Coordinators.Coordinators[0].Address
	id := f.Coordinator(CoordinatorView{Address: address.String()}).Group
	listed := false
	for _, g := range NewGroupListView(meta, f).Items {
		listed = listed || g.ID == id
		if g.ID == id && (g.CoordinatorWords() != "yes" || !ptr.Deref(g.CoordinatorReachable, false)) {
			t.Errorf("%s is %q", id, g.CoordinatorWords())
		}
		if !ptr.Deref(g.Coordinator, false) && g.CoordinatorReachable != nil {
			t.Errorf("%s has no coordinator, and an answer of one", g.ID)
		}
	}
	if !listed {
		t.Errorf("no process group %q, which coordinator %s belongs to", id, address)
	}
}
