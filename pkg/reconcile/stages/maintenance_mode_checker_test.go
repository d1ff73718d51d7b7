package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// maintained returns a healthy cluster two minutes after node-14 was put under maintenance for
// storage-114, which restarted a minute ago.
func maintained(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	withMaintenance(&s)
	s.Database.Status.Cluster.MaintenanceZone = "node-14"
	s.Coordination.Read = true
	s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{"storage-114": noon.Add(-2 * time.Minute)}
	uptime(&s, "storage-114", time.Minute)
	return s
}

func uptime(s *plan.Snapshot, id v1beta2.ProcessGroupID, d time.Duration) {
	editProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.UptimeSeconds = new(d.Seconds()) })
}

func TestMaintenanceModeChecker(t *testing.T) {
	const (
		end    = "end maintenance mode of zone node-14"
		forget = "remove maintenance entries of storage-114"
	)
	note := func(s *plan.Snapshot, id v1beta2.ProcessGroupID, ago time.Duration) {
		s.Coordination.Maintenance[id] = noon.Add(-ago)
	}
	silent := func(s *plan.Snapshot) { dropProcess(s, s.Cluster.ProcessGroup("storage-114")) }
	tests := map[string]removalCase{
		"ends it when all that were noted have restarted": {from: maintained, does: []string{end, forget}},
		"does nothing where the spec does not want it": {from: maintained, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = nil
		}},
		"ends it where the spec only has it reset": {from: maintained, given: func(s *plan.Snapshot) {
			yes := true
			s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions = v1beta2.MaintenanceModeOptions{ResetMaintenanceMode: &yes}
		}, does: []string{end, forget}},
		"waits for a process that has not restarted": {from: maintained, given: func(s *plan.Snapshot) { uptime(s, "storage-114", time.Hour) }, holds: "until these process groups have restarted: storage-114"},
		"waits for a process that does not tell its age": {from: maintained, given: func(s *plan.Snapshot) {
			editProcess(s, s.Cluster.ProcessGroup("storage-114"), func(p *fdb.Process) { p.UptimeSeconds = nil })
		}, holds: "storage-114"},
		"waits for a process that is away":                      {from: maintained, given: silent, holds: "storage-114"},
		"waits for a process of another control-plane instance": {from: maintained, given: func(s *plan.Snapshot) { note(s, "dc2-storage-1", time.Minute) }, holds: "dc2-storage-1"},
		"waits for a process that was noted for the next zone": {
			from: maintained, given: func(s *plan.Snapshot) { note(s, "storage-115", 4*time.Minute) }, holds: "storage-115",
		},
		"does not wait for a process of another zone for long": {
			from: maintained, given: func(s *plan.Snapshot) { uptime(s, "storage-115", 24*time.Hour); note(s, "storage-115", 6*time.Minute) }, does: []string{end, forget},
		},
		"does not wait forever for a process that does not report": {
			from: maintained, given: func(s *plan.Snapshot) { silent(s); note(s, "storage-114", 5*time.Hour) }, does: []string{end, forget},
		},
		"does not wait for a process group that was removed": {
			from: maintained, given: func(s *plan.Snapshot) { note(s, "storage-9", time.Minute) },
			does: []string{end, "remove maintenance entries of storage-114, storage-9"},
		},
		"leaves a zone alone that only others than its processes were noted for": {from: maintained, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone = "node-15"
		}, does: []string{forget}},
		"leaves a zone alone whose notes have an unknown zone": {from: maintained, given: func(s *plan.Snapshot) {
			s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{"storage-9": noon.Add(-time.Minute)}
		}, does: []string{"remove maintenance entries of storage-9"}},
		"ends it where all that was noted came back in another zone": {from: maintained, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "node-99", new(8*60.0)
		}, does: []string{"end maintenance mode of zone node-99", forget}},
		"leaves maintenance alone that began long after the note": {from: maintained, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "node-99", new(8*60.0)
			note(s, "storage-114", 2*time.Hour)
		}, does: []string{forget}},
		"leaves maintenance alone that has no notes":   {from: maintained, given: func(s *plan.Snapshot) { clear(s.Coordination.Maintenance) }},
		"removes notes when the maintenance is over":   {from: maintained, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "" }, does: []string{forget}},
		"does nothing on notes that could not be read": {from: maintained, given: func(s *plan.Snapshot) { s.Coordination.Read = false }, holds: "could not be read"},
		"waits while the database is unavailable":      {from: maintained, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
		"waits while storage servers lag": {from: maintained, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.QoS.WorstDataLagStorageServer.Seconds = new(61.0)
		}, holds: "data lag of a storage process is 61 s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, maintenanceModeChecker) })
	}
}
