package operations

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestIncludeTargets(t *testing.T) {
	const own = "locality_instance_id:storage-114"
	excluded := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return stagestest.All(append([]func(*plan.Snapshot){stagestest.Excluding(own, "storage-114")}, edits...)...)
	}
	marked := func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-114").MarkForRemoval(stagestest.Noon) }
	group := Inclusion{Groups: []v1beta2.ProcessGroupID{"storage-114"}}
	named := func(target string) Inclusion { return Inclusion{Targets: []string{target}} }
	tests := map[string]struct {
		stagestest.RemovalCase
		of Inclusion
	}{
		"includes a group by its ID":                  {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(), Does: []string{"include " + own}}, group},
		"includes a group by all of its names":        {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(stagestest.Excluding("10.1.0.14"), stagestest.Excluding("10.1.0.14:4501"), stagestest.Excluding("10.1.0.15")), Does: []string{"include 10.1.0.14 10.1.0.14:4501 " + own}}, group},
		"has nothing to do where nothing is excluded": {stagestest.RemovalCase{From: stagestest.HealthyCluster}, group},
		"includes what the status document does not show yet": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{own}
		}, Does: []string{"include " + own}}, group},
		"never includes a group that is marked for removal": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(marked), Holds: own + ", because storage-114 is marked for removal"}, group},
		"nor does it by the name of the exclusion":          {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(marked), Holds: "because storage-114 is marked for removal"}, named(own)},
		"nor by an address that such a group had":           {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(marked, stagestest.Excluding("10.1.0.14")), Holds: "10.1.0.14, because storage-114 is marked for removal"}, named("10.1.0.14")},
		"nor by its fault domain":                           {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(marked, stagestest.Excluding("locality_zoneid:node-14")), Holds: "because storage-114 is marked for removal"}, named("locality_zoneid:node-14")},
		"nor by the fault domain of one that does not report": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(marked, stagestest.Excluding("locality_zoneid:node-14"), func(s *plan.Snapshot) {
			stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}), Holds: "because storage-114 is marked for removal"}, named("locality_zoneid:node-14")},
		"nor by any locality of its processes": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(marked, stagestest.Excluding("locality_process_id:storage-114-1")), Holds: "because storage-114 is marked for removal"}, named("locality_process_id:storage-114-1")},
		"includes a marked group by its fault domain where the spec keeps the group": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: stagestest.All(marked, stagestest.Kept("storage-114"), stagestest.Excluding("locality_zoneid:node-14")), Does: []string{"include locality_zoneid:node-14"},
		}, named("locality_zoneid:node-14")},
		"but not where its PVC is being deleted": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: stagestest.All(marked, stagestest.Kept("storage-114"), stagestest.Excluding("locality_zoneid:node-14"), func(s *plan.Snapshot) {
				s.Volumes["sample-storage-114-data"].DeletionTimestamp = new(stagestest.NoonTime())
			}), Holds: "because storage-114 is marked for removal",
		}, named("locality_zoneid:node-14")},
		"keeps what was excluded as failed": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			stagestest.Excluding("locality_instance_id:storage-115", "storage-115")(s)
			s.Coordination.FailedExclusions = []string{"locality_instance_id:storage-115"}
		}, Holds: "because it was excluded as failed"}, Inclusion{Groups: []v1beta2.ProcessGroupID{"storage-115"}}},
		"includes those that stay and reports the others": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: excluded(marked, stagestest.Excluding("locality_instance_id:storage-115", "storage-115")),
			Does: []string{"include locality_instance_id:storage-115"}, Holds: "because storage-114 is marked for removal",
		}, Inclusion{Groups: []v1beta2.ProcessGroupID{"storage-114", "storage-115"}}},
		"includes a stray exclusion by its name":        {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: stagestest.Excluding("10.9.9.9"), Does: []string{"include 10.9.9.9"}}, named("10.9.9.9")},
		"has nothing to do about one that is not there": {stagestest.RemovalCase{From: stagestest.HealthyCluster}, named("10.9.9.9")},
		"leaves an exclusion of many to whoever names it": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: stagestest.Excluding("locality_zoneid:node-14", "storage-114"),
			Holds: "locality_zoneid:node-14, which covers more than storage-114; name it with --target",
		}, group},
		"leaves a process alone that another control-plane instance may remove": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			stagestest.Excluding("locality_instance_id:other-storage-1")(s)
			s.Database.Status.Cluster.Processes["other"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}, Locality: map[string]string{fdb.LocalityInstanceID: "other-storage-1"}}
		}, Holds: "because the process at 10.9.9.9:4501 belongs to other-storage-1, which is not in the status of sample"}, named("locality_instance_id:other-storage-1")},
		"leaves a group alone that another control-plane instance removes": {stagestest.RemovalCase{From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: stagestest.All(
			stagestest.Excluding("locality_instance_id:dc2-storage-1"), stagestest.Listed("dc2", 0, stagestest.Lists(fdb.PendingForRemoval), "dc2-storage-1"),
		), Holds: "because another control-plane instance removes dc2-storage-1"}, named("locality_instance_id:dc2-storage-1")},
		"waits while the removals of others are unknown": {stagestest.RemovalCase{
			From: stagestest.InGlobalMode(stagestest.HealthyCluster), Given: excluded(func(s *plan.Snapshot) { s.Coordination.Lists.Read = false }),
			Holds: "cannot determine what other control-plane instances remove",
		}, group},
		"waits after a recovery":                        {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(stagestest.RecoveredAgo(599)), Holds: "9m59s ago"}, group},
		"waits until a recovery is over":                {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAcceptingCommits }), Holds: "recovery state is accepting_commits"}, group},
		"waits while a restore has the database locked": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: excluded(func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }), Holds: "locked"}, group},
		"waits while the database is unavailable":       {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"}, group},
		"waits while exclusions are unknown":            {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration = nil }, Holds: "cannot determine which exclusions exist"}, group},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, IncludeTargets(tc.of)) })
	}
}
