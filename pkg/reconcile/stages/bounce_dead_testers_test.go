package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// testerGone returns a healthy cluster of a version that never forgets testers, one of which was
// removed.
func testerGone(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.3.34", "7.3.34"
	s.Database.Status.Cluster.Processes["gone"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}, ClassType: "test"}
	s.Database.Status.Cluster.Messages = []fdb.Message{{
		Name: fdb.MessageUnreachableProcesses, UnreachableProcesses: []fdb.UnreachableProcess{{Address: "10.9.9.9:4501"}},
	}}
	editProcess(&s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleClusterController}} })
	recoveredAgo(7200)(&s)
	for _, g := range s.Groups() {
		uptime(&s, g.ProcessGroupID, 2*time.Hour)
	}
	return s
}

func TestTheClusterControllerForgetsRemovedTesters(t *testing.T) {
	const restart = "restart 1 process of stateless-105 at once"
	tests := map[string]removalCase{
		"it is restarted in a version that never does": {from: testerGone, does: []string{restart}},
		"not in one that does by itself": {from: testerGone, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.3.35", "7.3.35"
		}},
		"a tester is known by the record, too": {from: testerGone, given: func(s *plan.Snapshot) {
			delete(s.Database.Status.Cluster.Processes, "gone")
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{
				ProcessGroupID: "test-1", ProcessClass: v1beta2.ProcessClassTest, Addresses: []string{"10.9.9.9"},
			})
		}, does: []string{restart}},
		"not for another removed process": {from: testerGone, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages[0].UnreachableProcesses[0].Address = podIP(1) + ":4501"
		}},
		"not for a remark about something else": {from: testerGone, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages[0].Name = fdb.MessageLogServersError
		}},
		"not within an hour after a recovery": {from: testerGone, given: recoveredAgo(3599), holds: "last recovery 59m59s ago"},
		"not within an hour after a process started": {from: testerGone, given: func(s *plan.Snapshot) {
			uptime(s, "log-101", 3599*time.Second)
		}, holds: "(log-101) started 59m59s ago"},
		"not while a restore has the database locked": {from: testerGone, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.DatabaseLockState.Locked = true
		}, holds: "locked"},
		"not while no process reports the role": {from: testerGone, given: func(s *plan.Snapshot) {
			editProcess(s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Roles = nil })
		}},
		"not where the spec wants no restarts": {from: testerGone, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.KillProcesses = new(bool)
		}},
		"not beside an unavailable database": {from: testerGone, given: func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, bounceProcesses) })
	}
}
