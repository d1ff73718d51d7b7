package operations

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
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

// copies sets the number of copies of some data.
func copies(n int) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &n }
}

func TestRemovalWithoutDrainingRequiresAnotherReplica(t *testing.T) {
	const marks = "mark for removal without draining (their replicas of data are deleted): storage-114"
	type ids = []v1beta2.ProcessGroupID
	one, log := ids{"storage-114"}, ids{"log-101"}
	tests := map[string]struct {
		stagestest.RemovalCase
		of ids
	}{
		"a group of which others have copies":        {stagestest.RemovalCase{From: healthyClusterOf4, Does: []string{marks}}, one},
		"one whose exclusion does not end":           {stagestest.RemovalCase{From: excludedOf4, Does: []string{marks}}, one},
		"nothing is left to skip of what is drained": {stagestest.RemovalCase{From: excludedOf4, Given: func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-114").SetExcluded(stagestest.Noon) }}, one},
		"does nothing about one that does not exist": {stagestest.RemovalCase{From: healthyClusterOf4}, ids{"storage-9"}},
		"all of one fault domain go together": {stagestest.RemovalCase{
			From: healthyClusterOf4, Given: func(s *plan.Snapshot) { stagestest.ShareZone(s, "log-101", stagestest.NodeName(14)) },
			Does: []string{marks + ", log-101"},
		}, ids{"storage-114", "log-101"}},
		"those of two fault domains go one after the other": {stagestest.RemovalCase{From: healthyClusterOf4, Does: []string{marks}, Holds: "removal of storage-115 waits: one fault domain at a time"}, ids{"storage-114", "storage-115"}},
		"one without a fault domain goes alone": {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").FaultDomain = ""
			s.Cluster.ProcessGroup("storage-115").FaultDomain = ""
		}, Does: []string{marks}, Holds: "removal of storage-115 waits"}, ids{"storage-114", "storage-115"}},
		"not while another is on its way": {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) {
			*s = plan.MarkForRemoval{Groups: ids{"storage-115"}, At: stagestest.Noon, WithoutExclusion: true}.Apply(*s)
		}, Holds: "removal of storage-114 waits until storage-115 is removed"}, one},
		"not the last copy":                                     {stagestest.RemovalCase{From: healthyClusterOf4, Given: copies(1), Holds: "1 replica of the data now, 0 after the removal"}, one},
		"not while copies are missing":                          {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.RedundancyMode = "triple" }, Holds: "some data has 2 of 3 replicas, 3 required"}, one},
		"not while the copies are unknown":                      {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.TeamTrackers = nil }, Holds: "the number of replicas of the data is unknown"}, one},
		"not the last copy of the logs":                         {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { n := 1; s.Database.Status.Cluster.Logs[0].ReplicationFactor = &n }, Holds: "1 replica of the logs now, 0 after the removal"}, log},
		"not while the copies of logs are unknown":              {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Logs[0].ReplicationFactor = nil }, Holds: "the number of replicas of the logs is unknown"}, log},
		"not while the database does not answer":                {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"}, one},
		"not while a restore has the database locked":           {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked with UID"}, one},
		"not while another fault domain is down":                {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { delete(s.Pods, "sample-storage-115") }, Holds: "storage-115 in fault domain node-15 has no pod"}, one},
		"not while data distribution is not healthy":            {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { no := false; s.Database.Status.Cluster.Data.State.Healthy = &no }, Holds: "data state is"}, one},
		"not while the database reports that it is unavailable": {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, Holds: "the database is unavailable"}, one},
		"not while recoveries pile up":                          {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, Holds: "11 active generations"}, one},
		"not while a process of another fault domain is young":  {stagestest.RemovalCase{From: healthyClusterOf4, Given: func(s *plan.Snapshot) { stagestest.Uptime(s, "storage-115", 12*time.Second) }, Holds: "storage-115 started 12s ago, 1m30s required"}, one},
		"not right after a recovery":                            {stagestest.RemovalCase{From: healthyClusterOf4, Given: stagestest.RecoveredAgo(30), Holds: "last recovery 30s ago, 2m0s required"}, one},
		"not what the configuration cannot do without":          {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { dropStorage(s, "storage-115") }, Holds: "cannot be removed without draining"}, one},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, SkipExclusion(tc.of)) })
	}
}

// A pass waits for a stable database; any other refusal needs a new decision of the user.
func TestSkipExclusionRefusalsAreManualUnlessTemporary(t *testing.T) {
	tests := map[string]struct {
		given  func(*plan.Snapshot)
		manual bool
	}{
		"a recovery that is too young":    {given: stagestest.RecoveredAgo(30)},
		"a process that is too young":     {given: func(s *plan.Snapshot) { stagestest.Uptime(s, "storage-115", 12*time.Second) }},
		"the last copy":                   {given: copies(1), manual: true},
		"a database that does not answer": {given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, manual: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := healthyClusterOf4(t)
			tc.given(&s)
			if d := SkipExclusion([]v1beta2.ProcessGroupID{"storage-114"}).Decide(s); d.Hold == nil || d.Hold.Manual != tc.manual || len(d.Actions) > 0 {
				t.Errorf("hold %+v, actions %v", d.Hold, d.Actions)
			}
		})
	}
}

func TestSkipExclusionMatchesProcessGroupsToRemoveWithoutExclusion(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	after := plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{"storage-114"}, At: stagestest.Noon, WithoutExclusion: true}.Apply(s)
	listed := s.Cluster.DeepCopy()
	listed.Spec.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{"storage-114"}
	want := listed.ProcessGroup("storage-114")
	status.MarkIfListed(listed, want, stagestest.Noon)
	if got := after.Cluster.ProcessGroup("storage-114"); got.ExclusionSkipped != want.ExclusionSkipped || !got.IsRemovable() || !want.IsRemovable() || !got.RemovalTimestamp.Equal(want.RemovalTimestamp) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s.Cluster.ProcessGroup("storage-114").IsMarkedForRemoval() {
		t.Error("the snapshot it was applied to was changed")
	}
}

func healthyClusterOf4(tb testing.TB) plan.Snapshot {
	tb.Helper()
	return stagestest.HealthyClusterOf(tb, 4)
}

// excludedOf4 has a group that was excluded an hour ago and is still not drained.
func excludedOf4(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyClusterOf4(tb)
	g := s.Cluster.ProcessGroup("storage-114")
	g.MarkForRemoval(stagestest.Noon.Add(-time.Hour))
	s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{g.ExclusionString()}
	s.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{{Locality: g.ExclusionString()}}
	return s
}

// dropStorage removes a group without leaving any object or process.
func dropStorage(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
	stagestest.DropProcess(s, s.Cluster.ProcessGroup(id))
	delete(s.Pods, "sample-"+string(id))
	*s = plan.IncludeAndForget{Groups: []v1beta2.ProcessGroupID{id}}.DropRecords(*s)
}
