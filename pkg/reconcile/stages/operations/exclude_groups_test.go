package operations

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestExcludeGroups(t *testing.T) {
	const storage = "exclude storage-114 (locality_instance_id:storage-114)"
	one, two := []v1beta2.ProcessGroupID{"storage-114"}, []v1beta2.ProcessGroupID{"storage-114", "storage-115"}
	tests := map[string]struct {
		stagestest.RemovalCase
		of []v1beta2.ProcessGroupID
	}{
		"excludes a group that stays": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Does: []string{storage}}, one},
		"excludes by address where localities are not to be used": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
		}, Does: []string{"exclude storage-114 (10.1.0.14)"}}, one},
		"excludes no more of a class than the redundancy allows": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Does: []string{storage}, Holds: "replacements are added first"}, two},
		"counts a group that a user excluded before, whatever the status records": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: stagestest.Excluding("locality_instance_id:storage-115", "storage-115"),
			Holds: "no further exclusion is allowed (2 up + 1 tolerated − 3 desired − 0 draining = 0)",
		}, one},
		"counts an exclusion that the status document does not show yet": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{"locality_instance_id:storage-115"}
		}, Holds: "2 up + 1 tolerated"}, one},
		"counts a group that leaves and drains": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-115").MarkForRemoval(stagestest.Noon)
			stagestest.Excluding("locality_instance_id:storage-115", "storage-115")(s)
		}, Holds: "exclusion waits: 3 up + 1 tolerated − 3 desired − 1 draining = 0"}, one},
		"does nothing twice":                 {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: stagestest.Excluding("locality_instance_id:storage-114", "storage-114")}, one},
		"does nothing twice by another name": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: stagestest.Excluding("10.1.0.14", "storage-114")}, one},
		"does nothing twice that the status document does not show yet": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{"locality_instance_id:storage-114"}
		}}, one},
		"has nothing to do about a removed group": {stagestest.RemovalCase{From: stagestest.HealthyCluster}, []v1beta2.ProcessGroupID{"storage-1"}},
		"leaves enough fault domains for the data": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
				stagestest.EditProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "the same" })
			}
		}, Holds: "storage processes in 1 fault domain, 2 required"}, one},
		"does not exclude data while the configuration is unknown": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration = nil },
			Holds: "does not report the configuration",
		}, one},
		"never excludes a coordinator": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: coordinatesAt("storage-114"), Holds: "storage-114 is a coordinator; coordinators move first"}, one},
		"waits while another of the class is missing": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-115").SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-time.Minute))
		}, Holds: "exclusion waits: storage-115 missing for 1m0s, may report again within 5m0s"}, one},
		"needs a user for a group that cannot be excluded": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
			s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.1.20", "7.1.20"
			s.Cluster.ProcessGroup("storage-114").Addresses = nil
		}, Holds: "storage-114 never had an address to exclude"}, one},
		"waits after a recovery":                        {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: stagestest.RecoveredAgo(119), Holds: "1m59s ago"}, one},
		"waits while recoveries pile up":                {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, Holds: "11 active generations"}, one},
		"waits while a restore has the database locked": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked"}, one},
		"waits while the database is unavailable":       {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"}, one},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ExcludeGroups(tc.of)) })
	}
}

func TestCoordinatorsMoveBeforeTheyAreExcluded(t *testing.T) {
	move := MoveCoordinatorsOff([]v1beta2.ProcessGroupID{"storage-114"})
	tests := map[string]stagestest.RemovalCase{
		"nothing moves for a group that is none": {From: stagestest.HealthyCluster},
		"they move to processes that stay":       {From: stagestest.HealthyCluster, Given: coordinatesAt("storage-114"), Does: []string{"change coordinators to 10.1.0.1:4501 10.1.0.2:4501 10.1.0.3:4501 and store the new connection string"}},
		"not right after a recovery":             {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { coordinatesAt("storage-114")(s); stagestest.RecoveredAgo(60)(s) }, Holds: "storage-114 is a coordinator, and coordinators move before their processes are excluded; the coordinator change waits"},
		"not for a group that is excluded already": {From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			coordinatesAt("storage-114")(s)
			stagestest.Excluding("locality_instance_id:storage-114")(s)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, move) })
	}
}
