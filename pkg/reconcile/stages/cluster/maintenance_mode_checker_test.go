package cluster

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestMaintenanceModeChecker(t *testing.T) {
	const (
		end    = "end maintenance mode of zone node-14"
		forget = "remove maintenance entries of storage-114"
	)
	note := func(s *plan.Snapshot, id v1beta2.ProcessGroupID, ago time.Duration) {
		s.Coordination.Maintenance[id] = stagestest.Noon.Add(-ago)
	}
	unresponsive := func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114")) }
	tests := map[string]stagestest.RemovalCase{
		"ends it when all that were noted have restarted": {From: stagestest.Maintained, Does: []string{end, forget}},
		"does nothing where the spec does not want it": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = nil
		}},
		"ends it where the spec only has it reset": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			yes := true
			s.Cluster.Spec.AutomationOptions.MaintenanceModeOptions = v1beta2.MaintenanceModeOptions{ResetMaintenanceMode: &yes}
		}, Does: []string{end, forget}},
		"waits for a process that has not restarted": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "storage-114", time.Hour) }, Holds: "until these process groups have restarted: storage-114"},
		"waits for a process that does not tell its age": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("storage-114"), func(p *fdb.Process) { p.UptimeSeconds = nil })
		}, Holds: "storage-114"},
		"waits for a process that is away":                      {From: stagestest.Maintained, Given: unresponsive, Holds: "storage-114"},
		"waits for a process of another control-plane instance": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { note(s, "dc2-storage-1", time.Minute) }, Holds: "dc2-storage-1"},
		"waits for a process that was noted for the next zone": {
			From: stagestest.Maintained, Given: func(s *plan.Snapshot) { note(s, "storage-115", 4*time.Minute) }, Holds: "storage-115",
		},
		"does not wait for a process of another zone for long": {
			From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
				stagestest.Uptime(s, "storage-115", 24*time.Hour)
				note(s, "storage-115", 6*time.Minute)
			}, Does: []string{end, forget},
		},
		"does not wait forever for a process that does not report": {
			From: stagestest.Maintained, Given: func(s *plan.Snapshot) { unresponsive(s); note(s, "storage-114", 5*time.Hour) }, Does: []string{end, forget},
		},
		"does not wait for a process group that was removed": {
			From: stagestest.Maintained, Given: func(s *plan.Snapshot) { note(s, "storage-9", time.Minute) },
			Does: []string{end, "remove maintenance entries of storage-114, storage-9"},
		},
		"leaves a zone alone that only others than its processes were noted for": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone = "node-15"
		}, Does: []string{forget}},
		"leaves a zone alone whose notes have an unknown zone": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{"storage-9": stagestest.Noon.Add(-time.Minute)}
		}, Does: []string{"remove maintenance entries of storage-9"}},
		"ends it where all that was noted came back in another zone": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "node-99", new(8*60.0)
		}, Does: []string{"end maintenance mode of zone node-99", forget}},
		"leaves maintenance alone that began long after the note": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone, s.Database.Status.Cluster.MaintenanceSecondsRemaining = "node-99", new(8*60.0)
			note(s, "storage-114", 2*time.Hour)
		}, Does: []string{forget}},
		"leaves maintenance alone that has no notes":        {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { clear(s.Coordination.Maintenance) }},
		"removes notes when the maintenance is over":        {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "" }, Does: []string{forget}},
		"does nothing on notes that could not be read":      {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Coordination.Read = false }, Holds: "could not be read"},
		"waits while the database is unavailable":           {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
		"waits while the zone under maintenance is unknown": {From: stagestest.Maintained, Given: stagestest.MaintenanceUnread, Holds: "does not report whether a zone is under maintenance"},
		"goes on without notes while the zone under maintenance is unknown": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			stagestest.MaintenanceUnread(s)
			clear(s.Coordination.Maintenance)
		}},
		"waits while storage servers lag": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.QoS.WorstDataLagStorageServer.Seconds = new(61.0)
		}, Holds: "data lag of a storage process is 61 s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, MaintenanceModeChecker) })
	}
}
