package inspect

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// For about a minute the database counts a storage process that died. Later its numbers are right, and they
// are full again once the data is replicated without the process.
func TestTheToleranceIsLoweredOnlyUntilTheDatabaseNoticesALoss(t *testing.T) {
	for name, tc := range map[string]struct {
		since    time.Duration
		reported int
		want     int
	}{
		"not noticed yet":                      {since: time.Minute, reported: 1, want: 0},
		"noticed, and data has to be copied":   {since: 3 * time.Minute, reported: 0, want: 0},
		"noticed, and all data has its copies": {since: 3 * time.Minute, reported: 1, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := of(inspecttest.Healthy(t))
			inspecttest.Unresponsiveness(f.Snapshot, "storage-3", tc.since)
			f.Database.Status.Cluster.FaultTolerance.WithoutLosingData = &tc.reported
			v := f.Tolerance()
			if v.Zones == nil || *v.Zones != tc.want || len(v.ZonesNotReporting) != 1 {
				t.Errorf("%+v", v)
			}
		})
	}
}
