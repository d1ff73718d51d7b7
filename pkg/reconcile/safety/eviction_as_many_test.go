package safety

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// While fewer coordinators are placed than the spec wants, one of them can still move.
func TestEvictionRequiresPlacesForTheCurrentCoordinatorCount(t *testing.T) {
	s := leavable(t)
	s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeTriple
	c := coordinatorsCanMove(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("storage-2")})
	if want := "3 required"; !strings.Contains(c.Evidence, want) {
		t.Errorf("%q, want %q", c.Evidence, want)
	}
}
