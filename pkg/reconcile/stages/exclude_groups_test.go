package stages

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// excluding adds an exclusion, which the processes concerned report.
func excluding(target string, groups ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		excluded := fdb.ExcludedServer{Address: target}
		if strings.HasPrefix(target, "locality_") {
			excluded = fdb.ExcludedServer{Locality: target}
		}
		s.Database.Status.Cluster.Configuration.ExcludedServers = append(s.Database.Status.Cluster.Configuration.ExcludedServers, excluded)
		yes := true
		for _, id := range groups {
			editProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.Excluded = &yes })
		}
	}
}

func TestExcludeGroups(t *testing.T) {
	const storage = "exclude storage-114 (locality_instance_id:storage-114)"
	one, two := []v1beta2.ProcessGroupID{"storage-114"}, []v1beta2.ProcessGroupID{"storage-114", "storage-115"}
	tests := map[string]struct {
		removalCase
		of []v1beta2.ProcessGroupID
	}{
		"excludes a group that stays": {removalCase{from: healthyCluster, does: []string{storage}}, one},
		"excludes by address where localities are not to be used": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
		}, does: []string{"exclude storage-114 (10.1.0.14)"}}, one},
		"excludes no more of a class than the redundancy allows": {removalCase{from: healthyCluster, does: []string{storage}, holds: "replacements are added first"}, two},
		"counts a group that a user excluded before, whatever the status records": {removalCase{
			from: healthyCluster, given: excluding("locality_instance_id:storage-115", "storage-115"),
			holds: "no further exclusion is allowed (2 up + 1 tolerated − 3 desired − 0 draining = 0)",
		}, one},
		"counts an exclusion that the status document does not show yet": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{"locality_instance_id:storage-115"}
		}, holds: "2 up + 1 tolerated"}, one},
		"counts a group that leaves and drains": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-115").MarkForRemoval(noon)
			excluding("locality_instance_id:storage-115", "storage-115")(s)
		}, holds: "exclusion waits: 3 up + 1 tolerated − 3 desired − 1 draining = 0"}, one},
		"does nothing twice":                 {removalCase{from: healthyCluster, given: excluding("locality_instance_id:storage-114", "storage-114")}, one},
		"does nothing twice by another name": {removalCase{from: healthyCluster, given: excluding("10.1.0.14", "storage-114")}, one},
		"does nothing twice that the status document does not show yet": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{"locality_instance_id:storage-114"}
		}}, one},
		"has nothing to do about a removed group": {removalCase{from: healthyCluster}, []v1beta2.ProcessGroupID{"storage-1"}},
		"leaves enough fault domains for the data": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			for _, id := range []v1beta2.ProcessGroupID{"storage-115", "storage-116"} {
				editProcess(s, s.Cluster.ProcessGroup(id), func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "the same" })
			}
		}, holds: "storage processes in 1 fault domain, 2 required"}, one},
		"does not exclude data while the configuration is unknown": {removalCase{
			from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration = nil },
			holds: "does not report the configuration",
		}, one},
		"never excludes a coordinator": {removalCase{from: healthyCluster, given: coordinatesAt("storage-114"), holds: "storage-114 are coordinators; coordinators move first"}, one},
		"waits while another of the class is missing": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-115").SetCondition(v1beta2.ConditionMissingProcesses, noon.Add(-time.Minute))
		}, holds: "exclusion waits: storage-115 missing for 1m0s, may report again within 5m0s"}, one},
		"needs a user for a group that cannot be excluded": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
			s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = "7.1.20", "7.1.20"
			s.Cluster.ProcessGroup("storage-114").Addresses = nil
		}, holds: "storage-114 never had an address to exclude"}, one},
		"waits after a recovery":                        {removalCase{from: healthyCluster, given: recoveredAgo(119), holds: "1m59s ago"}, one},
		"waits while recoveries pile up":                {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, holds: "11 active generations"}, one},
		"waits while a restore has the database locked": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked"}, one},
		"waits while the database is unavailable":       {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"}, one},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, ExcludeGroups(tc.of)) })
	}
}

func TestCoordinatorsMoveBeforeTheyAreExcluded(t *testing.T) {
	move := moveCoordinatorsOff([]v1beta2.ProcessGroupID{"storage-114"})
	tests := map[string]removalCase{
		"nothing moves for a group that is none": {from: healthyCluster},
		"they move to processes that stay":       {from: healthyCluster, given: coordinatesAt("storage-114"), does: []string{"change coordinators to 10.1.0.1:4501 10.1.0.2:4501 10.1.0.3:4501 and store the new connection string"}},
		"not right after a recovery":             {from: healthyCluster, given: func(s *plan.Snapshot) { coordinatesAt("storage-114")(s); recoveredAgo(60)(s) }, holds: "storage-114 are coordinators, and coordinators move before their processes are excluded; the coordinator change waits"},
		"not for a group that is excluded already": {from: healthyCluster, given: func(s *plan.Snapshot) {
			coordinatesAt("storage-114")(s)
			excluding("locality_instance_id:storage-114")(s)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, move) })
	}
}
