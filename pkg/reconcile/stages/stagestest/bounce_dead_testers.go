package stagestest

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DeadTester returns a healthy cluster of a version that never forgets testers, one of which was
// removed.
func DeadTester(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.3.34", "7.3.34"
	s.Database.Status.Cluster.Processes["gone"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}, ClassType: "test"}
	s.Database.Status.Cluster.Messages = []fdb.Message{{
		Name: fdb.MessageUnreachableProcesses, UnreachableProcesses: []fdb.UnreachableProcess{{Address: "10.9.9.9:4501"}},
	}}
	EditProcess(&s, s.Cluster.ProcessGroup("stateless-105"), func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleClusterController}} })
	RecoveredAgo(7200)(&s)
	for _, g := range s.Groups() {
		Uptime(&s, g.ProcessGroupID, 2*time.Hour)
	}
	return s
}
