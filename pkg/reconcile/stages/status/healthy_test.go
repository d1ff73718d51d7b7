package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// Tests begin with this cluster, so it has to be what a settled one is.
func TestTheHealthyTestClusterNeedsNoStatusUpdate(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	got, err := NewStatus(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Cluster.Status, got); diff != "" {
		t.Errorf("status (-of the test's cluster +of a pass):\n%s", diff)
	}
}
