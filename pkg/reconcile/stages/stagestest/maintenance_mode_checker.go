package stagestest

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Maintained returns a healthy cluster two minutes after node-14 was put under maintenance for
// storage-114, which restarted a minute ago.
func Maintained(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	WithMaintenance(&s)
	s.Database.Status.Cluster.MaintenanceZone = "node-14"
	s.Coordination.Read = true
	s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{"storage-114": Noon.Add(-2 * time.Minute)}
	Uptime(&s, "storage-114", time.Minute)
	return s
}

// Uptime sets for how long the processes of a group have run.
func Uptime(s *plan.Snapshot, id v1beta2.ProcessGroupID, d time.Duration) {
	EditProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.UptimeSeconds = new(d.Seconds()) })
}
