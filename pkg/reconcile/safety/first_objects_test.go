package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// What is refused of a new cluster must never stop one that exists, whatever its status has lost.
func TestAClusterHasBegunOnceItsStatusHasAnythingOfADatabase(t *testing.T) {
	for name, tc := range map[string]struct {
		status v1beta2.FoundationDBClusterStatus
		want   bool
	}{
		"an empty status":     {want: true},
		"a process group":     {status: v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "log-1"}}}},
		"a configuration":     {status: v1beta2.FoundationDBClusterStatus{Configured: true}},
		"a connection string": {status: v1beta2.FoundationDBClusterStatus{ConnectionString: "a:b@10.0.0.1:4501"}},
	} {
		if got := Unbegun(&v1beta2.FoundationDBCluster{Status: tc.status}); got != tc.want {
			t.Errorf("%s: unbegun %t", name, got)
		}
	}
}
