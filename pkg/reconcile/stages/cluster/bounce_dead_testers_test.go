package cluster

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestTheClusterControllerIsRestartedAfterTesterRemoval(t *testing.T) {
	const restart = "restart 1 process of stateless-105 at once"
	tests := map[string]stagestest.RemovalCase{
		"it is restarted in a version that never does": {From: stagestest.DeadTester, Does: []string{restart}},
		"not in one that does by itself": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.3.35", "7.3.35"
		}},
		"a tester is known by the record, too": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			delete(s.Database.Status.Cluster.Processes, "gone")
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{
				ProcessGroupID: "test-1", ProcessClass: v1beta2.ProcessClassTest, Addresses: []string{"10.9.9.9"},
			})
		}, Does: []string{restart}},
		"not for another removed process": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages[0].UnreachableProcesses[0].Address = stagestest.PodIP(1) + ":4501"
		}},
		"not for a remark about something else": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages[0].Name = fdb.MessageLogServersError
		}},
		"not within an hour after a recovery": {From: stagestest.DeadTester, Given: stagestest.RecoveredAgo(3599), Holds: "last recovery 59m59s ago"},
		"not within an hour after a process started": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			stagestest.Uptime(s, "log-101", 3599*time.Second)
		}, Holds: "(log-101) started 59m59s ago"},
		"not while a restore has the database locked": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.DatabaseLockState.Locked = true
		}, Holds: "locked"},
		"not while no process reports the role": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Roles = nil })
		}},
		"not where the spec forbids restarts": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool)
		}},
		"not beside an unavailable database": {From: stagestest.DeadTester, Given: func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, BounceProcesses) })
	}
}
