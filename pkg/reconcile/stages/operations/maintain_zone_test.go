package operations

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// maintaining puts a zone under maintenance for a time.
func maintaining(zone string, left time.Duration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Database.Status.Cluster.MaintenanceZone = zone
		s.Database.Status.Cluster.MaintenanceSecondsRemaining = new(left.Seconds())
	}
}

// lostReplica is a database with missing copies of some data.
func lostReplica(s *plan.Snapshot) {
	s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
}

func withNotes(s *plan.Snapshot) { s.Coordination.Read = true }

func withoutNotes(s *plan.Snapshot) { s.Coordination.Read = false }

// noted adds the note of a process group that restarts during maintenance.
func noted(id v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{id: stagestest.Noon.Add(-time.Minute)}
	}
}

func TestMaintainZone(t *testing.T) {
	const on = "set maintenance mode of zone node-14 for 10m0s"
	both := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	tests := map[string]stagestest.RemovalCase{
		"puts a zone under maintenance":                         {From: stagestest.HealthyCluster, Does: []string{on}},
		"notes what restarts where the spec has it ended":       {From: stagestest.HealthyCluster, Given: stagestest.WithMaintenance, Does: []string{on + ", to restart storage-114"}},
		"not while it is unknown whether another zone is":       {From: stagestest.HealthyCluster, Given: stagestest.MaintenanceUnread, Holds: "does not report whether a zone is under maintenance"},
		"not while another zone is":                             {From: stagestest.HealthyCluster, Given: maintaining("node-15", time.Minute), Holds: "zone node-15 is, and its maintenance would end silently"},
		"does nothing about a zone that is":                     {From: stagestest.HealthyCluster, Given: maintaining("node-14", 10*time.Minute-5*time.Second)},
		"sets the time of such a zone again":                    {From: stagestest.HealthyCluster, Given: maintaining("node-14", time.Minute), Does: []string{on}},
		"leaves notes as they are when it only lasts longer":    {From: stagestest.HealthyCluster, Given: both(stagestest.WithMaintenance, withNotes, noted("storage-114"), maintaining("node-14", time.Minute)), Does: []string{on}},
		"notes of another zone are none of this one":            {From: stagestest.HealthyCluster, Given: both(stagestest.WithMaintenance, withNotes, noted("storage-115"), maintaining("node-14", time.Minute)), Does: []string{on + ", to restart storage-114"}},
		"does not last longer while the notes are unknown":      {From: stagestest.HealthyCluster, Given: both(stagestest.WithMaintenance, withoutNotes, maintaining("node-14", time.Minute)), Holds: "notes could not be read"},
		"sets it again while the zone is down":                  {From: stagestest.HealthyCluster, Given: both(maintaining("node-14", time.Minute), lostReplica), Does: []string{on}},
		"not while the database misses copies":                  {From: stagestest.HealthyCluster, Given: lostReplica, Holds: "some data has 1 of"},
		"not while a process of another zone has just gone":     {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-115")) }, Holds: "storage-115 does not report"},
		"not while a process of another zone has just started":  {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "storage-115", 12*time.Second) }, Holds: "storage-115 started 12s ago, 1m30s required"},
		"not while the database is locked by a restore":         {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked with UID"},
		"not while the database does not answer":                {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
		"not while the database reports that it is unavailable": {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, Holds: "the database is unavailable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, MaintainZone("node-14", 10*time.Minute)) })
	}
}

func TestStopMaintenance(t *testing.T) {
	const (
		end    = "end maintenance mode of zone node-14"
		forget = "remove maintenance entries of storage-114"
	)
	tests := map[string]stagestest.RemovalCase{
		"ends it and removes the notes":          {From: stagestest.Maintained, Does: []string{end, forget}},
		"ends maintenance without notes":         {From: stagestest.HealthyCluster, Given: maintaining("node-14", time.Minute), Does: []string{end}},
		"removes notes that time left behind":    {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "" }, Does: []string{forget}},
		"does nothing while it is unknown":       {From: stagestest.Maintained, Given: stagestest.MaintenanceUnread, Holds: "does not report whether a zone is under maintenance"},
		"does nothing without maintenance":       {From: stagestest.HealthyCluster},
		"leaves notes for the next zone":         {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Coordination.Maintenance["storage-115"] = stagestest.Noon }, Does: []string{end, forget}},
		"not while the database is locked":       {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked with UID"},
		"not while the database does not answer": {From: stagestest.Maintained, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, StopMaintenance) })
	}
}

// A process of a zone that does not report its own part yet is noted all the same.
func TestMaintenanceEntriesIncludeEveryStorageProcessOfTheZone(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	stagestest.WithMaintenance(&s)
	stagestest.EditProcess(&s, s.Cluster.ProcessGroup("storage-115"), func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-14"; p.Version = "" })
	noted := toNote(s, "node-14")
	if want := []v1beta2.ProcessGroupID{"storage-114", "storage-115"}; len(noted) != 2 || noted[0] != want[0] || noted[1] != want[1] {
		t.Errorf("noted are %v, want %v", noted, want)
	}
}
