package stages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tests begin with this cluster, so it has to be what a settled one is.
func TestTheHealthyClusterIsSettled(t *testing.T) {
	s := healthyCluster(t)
	got, err := newStatus(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Cluster.Status, got); diff != "" {
		t.Errorf("status (-of the test's cluster +of a pass):\n%s", diff)
	}
}
