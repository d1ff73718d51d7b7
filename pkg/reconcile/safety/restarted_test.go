package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A restart was requested a minute before the document was made.
func TestAGroupHasRestartedOnceAllItsProcessesStartedAfterTheRequest(t *testing.T) {
	up := func(seconds float64) func(*plan.Snapshot) {
		return edit("storage-1", func(p *fdb.Process) { p.UptimeSeconds = &seconds })
	}
	second := func(seconds float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			p := s.Database.Status.Cluster.Processes["storage-1"]
			p.UptimeSeconds = &seconds
			s.Database.Status.Cluster.Processes["storage-1-2"] = p
			s.Cluster.Spec.StorageServersPerPod = 2
		}
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  Restarted
	}{
		"it is younger":               {up(59), RestartDone},
		"it is as old as the request": {up(60), RestartDue},
		"it is older":                 {up(61), RestartDue},
		"both are younger":            {both(up(59), second(5)), RestartDone},
		"one of both is older":        {both(up(59), second(61)), RestartDue},
		"one of both is absent":       {both(up(59), func(s *plan.Snapshot) { s.Cluster.Spec.StorageServersPerPod = 2 }), RestartUnknown},
		"it is absent":                {func(s *plan.Snapshot) { delete(s.Database.Status.Cluster.Processes, "storage-1") }, RestartUnknown},
		"it does not report":          {both(up(59), edit("storage-1", func(p *fdb.Process) { p.Version = "" })), RestartUnknown},
		"its age is unknown":          {edit("storage-1", func(p *fdb.Process) { p.UptimeSeconds = nil }), RestartUnknown},
		"the time is unknown":         {both(up(59), func(s *plan.Snapshot) { s.Database.Status.Cluster.ClusterControllerTimestamp = nil }), RestartUnknown},
		"no answer":                   {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, RestartUnknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			s.Database.Status.Cluster.ClusterControllerTimestamp, s.Pods = new(evening.Unix()), nil
			tc.given(&s)
			if got := RestartedSince(s, s.Cluster.ProcessGroup("storage-1"), evening.Add(-time.Minute)); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
