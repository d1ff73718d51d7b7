package waiting

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

func TestTheStatusSummaryNamesTheMaintenanceZone(t *testing.T) {
	tests := map[string]struct {
		unresponsive []string
		zone         string
		want         string
	}{
		"all that are missing are in it": {[]string{"storage-3"}, "zone-a", "1 storage group missing (storage-3), in zone zone-a, which is under maintenance"},
		"some are":                       {[]string{"storage-2", "storage-3"}, "zone-a", "(storage-2, storage-3), storage-3 of them in zone zone-a, which is under maintenance"},
		"none is":                        {[]string{"storage-2"}, "zone-a", "1 storage group missing (storage-2);"},
		"no zone is under maintenance":   {[]string{"storage-3"}, "", "1 storage group missing (storage-3);"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Cluster.ProcessGroup("storage-3").FaultDomain = "zone-a"
			f.Database.Status.Cluster.MaintenanceZone = tc.zone
			for _, id := range tc.unresponsive {
				inspecttest.Unresponsiveness(f.Snapshot, v1beta2.ProcessGroupID(id), 0)
			}
			if got := inspect.NewStatusView(meta, withoutAges(f)).Summary; !strings.Contains(got+";", tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
