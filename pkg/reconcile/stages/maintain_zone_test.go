package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
		s.Coordination.Maintenance = map[v1beta2.ProcessGroupID]time.Time{id: noon.Add(-time.Minute)}
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
	tests := map[string]removalCase{
		"puts a zone under maintenance":                         {from: healthyCluster, does: []string{on}},
		"notes what restarts where the spec has it ended":       {from: healthyCluster, given: withMaintenance, does: []string{on + ", to restart storage-114"}},
		"not while another zone is":                             {from: healthyCluster, given: maintaining("node-15", time.Minute), holds: "zone node-15 is, and its maintenance would end silently"},
		"does nothing about a zone that is":                     {from: healthyCluster, given: maintaining("node-14", 10*time.Minute-5*time.Second)},
		"sets the time of such a zone again":                    {from: healthyCluster, given: maintaining("node-14", time.Minute), does: []string{on}},
		"leaves notes as they are when it only lasts longer":    {from: healthyCluster, given: both(withMaintenance, withNotes, noted("storage-114"), maintaining("node-14", time.Minute)), does: []string{on}},
		"notes of another zone are none of this one":            {from: healthyCluster, given: both(withMaintenance, withNotes, noted("storage-115"), maintaining("node-14", time.Minute)), does: []string{on + ", to restart storage-114"}},
		"does not last longer while the notes are unknown":      {from: healthyCluster, given: both(withMaintenance, withoutNotes, maintaining("node-14", time.Minute)), holds: "notes could not be read"},
		"sets it again while the zone is down":                  {from: healthyCluster, given: both(maintaining("node-14", time.Minute), lostReplica), does: []string{on}},
		"not while the database misses copies":                  {from: healthyCluster, given: lostReplica, holds: "some data has 1 of"},
		"not while a process of another zone has just gone":     {from: healthyCluster, given: func(s *plan.Snapshot) { dropProcess(s, s.Cluster.ProcessGroup("storage-115")) }, holds: "storage-115 does not report"},
		"not while a process of another zone has just started":  {from: healthyCluster, given: func(s *plan.Snapshot) { uptime(s, "storage-115", 12*time.Second) }, holds: "storage-115 started 12s ago, 1m30s required"},
		"not while the database is locked by a restore":         {from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked with UID"},
		"not while the database does not answer":                {from: healthyCluster, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
		"not while the database reports that it is unavailable": {from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, holds: "the database is unavailable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, MaintainZone("node-14", 10*time.Minute)) })
	}
}

func TestStopMaintenance(t *testing.T) {
	const (
		end    = "end maintenance mode of zone node-14"
		forget = "remove maintenance entries of storage-114"
	)
	tests := map[string]removalCase{
		"ends it and removes the notes":          {from: maintained, does: []string{end, forget}},
		"ends maintenance without notes":         {from: healthyCluster, given: maintaining("node-14", time.Minute), does: []string{end}},
		"removes notes that time left behind":    {from: maintained, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = "" }, does: []string{forget}},
		"does nothing without maintenance":       {from: healthyCluster},
		"leaves notes for the next zone":         {from: maintained, given: func(s *plan.Snapshot) { s.Coordination.Maintenance["storage-115"] = noon }, does: []string{end, forget}},
		"not while the database is locked":       {from: maintained, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked with UID"},
		"not while the database does not answer": {from: maintained, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, StopMaintenance) })
	}
}

// A process of a zone that does not report its own part yet is noted all the same.
func TestEveryStorageProcessOfTheZoneIsNoted(t *testing.T) {
	s := healthyCluster(t)
	withMaintenance(&s)
	editProcess(&s, s.Cluster.ProcessGroup("storage-115"), func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-14"; p.Version = "" })
	noted := toNote(s, "node-14")
	if want := []v1beta2.ProcessGroupID{"storage-114", "storage-115"}; len(noted) != 2 || noted[0] != want[0] || noted[1] != want[1] {
		t.Errorf("noted are %v, want %v", noted, want)
	}
}
