package targets

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func TestRestartProgressOfEachProcessGroup(t *testing.T) {
	f := healthy(t)
	f.Cluster.Status.ProcessGroups = nil
	for _, id := range []v1beta2.ProcessGroupID{"old", "young", "ageless"} {
		f.Cluster.Status.ProcessGroups = append(f.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassLog})
	}
	process := func(id string, uptime *float64) fdb.Process {
		return fdb.Process{CommandLine: "fdbserver", Version: "7.3.79", UptimeSeconds: uptime, Locality: map[string]string{fdb.LocalityInstanceID: id}}
	}
	f.Database.Status.Cluster.ClusterControllerTimestamp = new(noon.Unix())
	f.Database.Status.Cluster.Processes = map[string]fdb.Process{
		"1": process("old", new(3600.0)), "2": process("young", new(5.0)), "3": process("ageless", nil),
	}
	want := []inspect.Target{
		{ID: "old", Phase: "pending"},
		{ID: "young", Phase: "restarted", Note: "all of its processes have restarted", Reached: true},
		{ID: "ageless", Phase: "not-reporting", Note: "not all of its processes report, or their start time is unknown"},
		{ID: "left", Phase: "removed", Note: "it was removed from the cluster", Reached: true},
	}
	ids := []v1beta2.ProcessGroupID{"old", "young", "ageless", "left"}
	if diff := cmp.Diff(want, Restarts(f, ids, noon.Add(-time.Minute))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.Database.Status = nil
	if got := Restarts(f, ids[1:2], noon.Add(-time.Minute)); got[0].Reached {
		t.Errorf("without a word from the database: %+v", got[0])
	}
}
