package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// copies sets the number of copies of some data.
func copies(n int) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &n }
}

func TestNothingGoesUndrainedUnlessAnotherCopyStays(t *testing.T) {
	const marks = "mark for removal without draining (their replicas of data are deleted): storage-114"
	type ids = []v1beta2.ProcessGroupID
	one, log := ids{"storage-114"}, ids{"log-101"}
	tests := map[string]struct {
		removalCase
		of ids
	}{
		"a group of which others have copies":        {removalCase{from: healthyClusterOf4, does: []string{marks}}, one},
		"one whose exclusion does not end":           {removalCase{from: excludedOf4, does: []string{marks}}, one},
		"nothing is left to skip of what is drained": {removalCase{from: excludedOf4, given: func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-114").SetExcluded(noon) }}, one},
		"does nothing about one that does not exist": {removalCase{from: healthyClusterOf4}, ids{"storage-9"}},
		"all of one fault domain go together": {removalCase{
			from: healthyClusterOf4, given: func(s *plan.Snapshot) { shareZone(s, "log-101", nodeName(14)) },
			does: []string{marks + ", log-101"},
		}, ids{"storage-114", "log-101"}},
		"those of two fault domains go one after the other": {removalCase{from: healthyClusterOf4, does: []string{marks}, holds: "removal of storage-115 waits: one fault domain at a time"}, ids{"storage-114", "storage-115"}},
		"one without a fault domain goes alone": {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").FaultDomain = ""
			s.Cluster.ProcessGroup("storage-115").FaultDomain = ""
		}, does: []string{marks}, holds: "removal of storage-115 waits"}, ids{"storage-114", "storage-115"}},
		"not while another is on its way": {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) {
			*s = plan.MarkForRemoval{Groups: ids{"storage-115"}, At: noon, WithoutExclusion: true}.Apply(*s)
		}, holds: "removal of storage-114 waits until storage-115 is removed"}, one},
		"not the last copy":                                     {removalCase{from: healthyClusterOf4, given: copies(1), holds: "1 replica of the data now, 0 after the removal"}, one},
		"not while copies are missing":                          {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.RedundancyMode = "triple" }, holds: "some data has 2 of 3 replicas, 3 required"}, one},
		"not while the copies are unknown":                      {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.TeamTrackers = nil }, holds: "the number of replicas of the data is unknown"}, one},
		"not the last copy of the logs":                         {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { n := 1; s.Database.Status.Cluster.Logs[0].ReplicationFactor = &n }, holds: "1 replica of the logs now, 0 after the removal"}, log},
		"not while the copies of logs are unknown":              {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Logs[0].ReplicationFactor = nil }, holds: "the number of replicas of the logs is unknown"}, log},
		"not while the database does not answer":                {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"}, one},
		"not while a restore has the database locked":           {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked with UID"}, one},
		"not while another fault domain is down":                {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { delete(s.Pods, "sample-storage-115") }, holds: "storage-115 in fault domain node-15 has no pod"}, one},
		"not while data distribution is not healthy":            {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { no := false; s.Database.Status.Cluster.Data.State.Healthy = &no }, holds: "data state is"}, one},
		"not while the database reports that it is unavailable": {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, holds: "the database is unavailable"}, one},
		"not while recoveries pile up":                          {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, holds: "11 active generations"}, one},
		"not while a process of another fault domain is young":  {removalCase{from: healthyClusterOf4, given: func(s *plan.Snapshot) { uptime(s, "storage-115", 12*time.Second) }, holds: "storage-115 started 12s ago, 1m30s required"}, one},
		"not right after a recovery":                            {removalCase{from: healthyClusterOf4, given: recoveredAgo(30), holds: "last recovery 30s ago, 2m0s required"}, one},
		"not what the configuration cannot do without":          {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { dropStorage(s, "storage-115") }, holds: "cannot be removed without draining"}, one},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, SkipExclusion(tc.of)) })
	}
}

// A pass waits for a stable database; any other refusal needs a new decision of the user.
func TestARefusalToSkipNeedsAUser(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		human bool
	}{
		"a recovery that is too young":    {given: recoveredAgo(30)},
		"a process that is too young":     {given: func(s *plan.Snapshot) { uptime(s, "storage-115", 12*time.Second) }},
		"the last copy":                   {given: copies(1), human: true},
		"a database that does not answer": {given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, human: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := healthyClusterOf4(t)
			tc.given(&s)
			if d := SkipExclusion([]v1beta2.ProcessGroupID{"storage-114"}).Decide(s); d.Hold == nil || d.Hold.Human != tc.human || len(d.Actions) > 0 {
				t.Errorf("hold %+v, actions %v", d.Hold, d.Actions)
			}
		})
	}
}

func TestAMarkWithoutExclusionIsAsTheSpecWouldMakeIt(t *testing.T) {
	s := healthyCluster(t)
	after := plan.MarkForRemoval{Groups: []v1beta2.ProcessGroupID{"storage-114"}, At: noon, WithoutExclusion: true}.Apply(s)
	listed := s.Cluster.DeepCopy()
	listed.Spec.ProcessGroupsToRemoveWithoutExclusion = []v1beta2.ProcessGroupID{"storage-114"}
	want := listed.ProcessGroup("storage-114")
	markIfListed(listed, want, noon)
	if got := after.Cluster.ProcessGroup("storage-114"); got.ExclusionSkipped != want.ExclusionSkipped || !got.IsGone() || !want.IsGone() || !got.RemovalTimestamp.Equal(want.RemovalTimestamp) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s.Cluster.ProcessGroup("storage-114").IsMarkedForRemoval() {
		t.Error("the snapshot it was applied to was changed")
	}
}

func healthyClusterOf4(tb testing.TB) plan.Snapshot {
	tb.Helper()
	return healthyClusterOf(tb, 4)
}

// excludedOf4 has a group that was excluded an hour ago and is still not drained.
func excludedOf4(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyClusterOf4(tb)
	g := s.Cluster.ProcessGroup("storage-114")
	g.MarkForRemoval(noon.Add(-time.Hour))
	s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{g.ExclusionString()}
	s.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{{Locality: g.ExclusionString()}}
	return s
}

// dropStorage removes a group without leaving any object or process.
func dropStorage(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
	dropProcess(s, s.Cluster.ProcessGroup(id))
	delete(s.Pods, "sample-"+string(id))
	*s = plan.IncludeAndForget{Groups: []v1beta2.ProcessGroupID{id}}.DropRecords(*s)
}
