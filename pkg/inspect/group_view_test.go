package inspect

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

func TestExclusionIsSafeOnlyWhereItWasProven(t *testing.T) {
	tests := map[string]struct {
		given func(Facts, *v1beta2.ProcessGroupStatus)
		want  Exclusion
	}{
		"never excluded":           {given: func(Facts, *v1beta2.ProcessGroupStatus) {}, want: NotExcluded},
		"marked, not yet excluded": {given: func(_ Facts, g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(noon) }, want: ExclusionPending},
		"excluded by locality, still a storage server": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
			}, want: ExclusionMoving,
		},
		"excluded by address, still a storage server": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Address: g.Addresses[0]})
			}, want: ExclusionMoving,
		},
		"excluded and silent proves nothing": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
				inspecttest.Unresponsiveness(f.Snapshot, g.ProcessGroupID, 0)
			}, want: ExclusionUnverified,
		},
		"excluded while old log generations are left": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
				inspecttest.Unresponsiveness(f.Snapshot, g.ProcessGroupID, 0)
				f.Database.Status.Cluster.Logs = append(f.Database.Status.Cluster.Logs, fdb.LogGeneration{})
			}, want: ExclusionRequested,
		},
		"not reported by any source": {given: func(f Facts, _ *v1beta2.ProcessGroupStatus) { f.Database.Status.Cluster.Processes = nil }, want: ExclusionUnknown},
		"proven by a pass, before a recovery": {given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
			g.SetExcluded(noon)
			inspecttest.Drain(f.Snapshot, "storage-1")
			f.Database.Status.Cluster.Logs = append(f.Database.Status.Cluster.Logs, fdb.LogGeneration{})
		}, want: ExclusionRequested},
		"proven by a pass, and included since": {given: func(_ Facts, g *v1beta2.ProcessGroupStatus) {
			g.MarkForRemoval(noon)
			g.SetExcluded(noon)
		}, want: ExclusionPending},
		"removed without": {given: func(_ Facts, g *v1beta2.ProcessGroupStatus) { g.ExclusionSkipped = true }, want: ExclusionSkipped},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			g := f.Cluster.ProcessGroup("storage-1")
			f.Coordination.ExclusionsRead = tc.want != ExclusionUnknown
			tc.given(f, g)
			if got := f.Exclusion(g); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			for _, row := range f.drains(g, ExclusionQuestion{Named: true}, &DrainHistory{}) {
				if row.State != tc.want {
					t.Errorf("exclusion status has %s, get process-groups %s", row.State, tc.want)
				}
			}
		})
	}
}
