package safety

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The last recovery is an hour ago, and all processes run for two.
func TestRestartsRequireAMinimumUptimeOfAllProcesses(t *testing.T) {
	up := func(id string, seconds float64) func(*plan.Snapshot) {
		return edit(id, func(p *fdb.Process) { p.UptimeSeconds = &seconds })
	}
	recovered := func(seconds float64) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &seconds
		}
	}
	running := func(version string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Status.RunningVersion = version }
	}
	const recovery, process, need = "last recovery ", "process at 10.0.0.1:4501 (storage-1) started ", " ago, 10m0s required"
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
		missing  time.Duration
	}{
		"the recovery is long ago":           {unchanged, true, recovery + "1h0m0s" + need, 0},
		"just long enough ago":               {recovered(600), true, recovery + "10m0s" + need, 0},
		"a recovery of late":                 {recovered(599), false, recovery + "9m59s" + need, time.Second},
		"a process that started of late":     {up("storage-1", 60), false, process + "1m0s" + need, 9 * time.Minute},
		"a process as old as the recovery":   {up("storage-1", 3600), true, recovery + "1h0m0s" + need, 0},
		"a process that reports no uptime":   {edit("storage-1", func(p *fdb.Process) { p.UptimeSeconds = nil }), false, process + "0s" + need, 10 * time.Minute},
		"a tester does not count":            {up("test-1", 1), true, recovery + "1h0m0s" + need, 0},
		"an excluded process does not count": {up("log-1", 1), true, recovery + "1h0m0s" + need, 0},
		"one that does not report":           {both(up("storage-1", 1), edit("storage-1", func(p *fdb.Process) { p.Version = "" })), true, recovery + "1h0m0s" + need, 0},
		"an unknown recovery": {
			func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState = nil },
			false, "the status document does not report the age of the last recovery", 10 * time.Minute,
		},
		"a version that cannot be read": {running("seven"), false, "the status document does not report the age of the last recovery", 10 * time.Minute},
		"no answer":                     {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out", 10 * time.Minute},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			for id := range s.Database.Status.Cluster.Processes {
				up(id, 7200)(&s)
			}
			tc.given(&s)
			c, missing := UpLongEnough(s, 10*time.Minute)
			if c.OK != tc.ok || c.Evidence != tc.evidence || missing != tc.missing {
				t.Errorf("%t, %q, %s missing; want %t, %q, %s", c.OK, c.Evidence, missing, tc.ok, tc.evidence, tc.missing)
			}
		})
	}
}
