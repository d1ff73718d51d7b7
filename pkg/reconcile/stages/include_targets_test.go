package stages

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestIncludeTargets(t *testing.T) {
	const own = "locality_instance_id:storage-114"
	excluded := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return all(append([]func(*plan.Snapshot){excluding(own, "storage-114")}, edits...)...)
	}
	marked := func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-114").MarkForRemoval(noon) }
	group := Inclusion{Groups: []v1beta2.ProcessGroupID{"storage-114"}}
	named := func(target string) Inclusion { return Inclusion{Targets: []string{target}} }
	tests := map[string]struct {
		removalCase
		of Inclusion
	}{
		"includes a group by its ID":                  {removalCase{from: healthyCluster, given: excluded(), does: []string{"include " + own}}, group},
		"includes a group by all of its names":        {removalCase{from: healthyCluster, given: excluded(excluding("10.1.0.14"), excluding("10.1.0.14:4501"), excluding("10.1.0.15")), does: []string{"include 10.1.0.14 10.1.0.14:4501 " + own}}, group},
		"has nothing to do where nothing is excluded": {removalCase{from: healthyCluster}, group},
		"includes what the status document does not show yet": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, []string{own}
		}, does: []string{"include " + own}}, group},
		"never includes a group that is marked for removal": {removalCase{from: healthyCluster, given: excluded(marked), holds: own + ", because storage-114 is marked for removal"}, group},
		"nor does it by the name of the exclusion":          {removalCase{from: healthyCluster, given: excluded(marked), holds: "because storage-114 is marked for removal"}, named(own)},
		"nor by an address that such a group had":           {removalCase{from: healthyCluster, given: excluded(marked, excluding("10.1.0.14")), holds: "10.1.0.14, because storage-114 is marked for removal"}, named("10.1.0.14")},
		"nor by its fault domain":                           {removalCase{from: healthyCluster, given: excluded(marked, excluding("locality_zoneid:node-14")), holds: "because storage-114 is marked for removal"}, named("locality_zoneid:node-14")},
		"nor by the fault domain of one that does not report": {removalCase{from: healthyCluster, given: excluded(marked, excluding("locality_zoneid:node-14"), func(s *plan.Snapshot) {
			dropProcess(s, s.Cluster.ProcessGroup("storage-114"))
		}), holds: "because storage-114 is marked for removal"}, named("locality_zoneid:node-14")},
		"nor by any locality of its processes": {removalCase{from: healthyCluster, given: excluded(marked, excluding("locality_process_id:storage-114-1")), holds: "because storage-114 is marked for removal"}, named("locality_process_id:storage-114-1")},
		"keeps what was excluded as failed": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			excluding("locality_instance_id:storage-115", "storage-115")(s)
			s.Coordination.FailedExclusions = []string{"locality_instance_id:storage-115"}
		}, holds: "because it was excluded as failed"}, Inclusion{Groups: []v1beta2.ProcessGroupID{"storage-115"}}},
		"includes those that stay and reports the others": {removalCase{
			from: healthyCluster, given: excluded(marked, excluding("locality_instance_id:storage-115", "storage-115")),
			does: []string{"include locality_instance_id:storage-115"}, holds: "because storage-114 is marked for removal",
		}, Inclusion{Groups: []v1beta2.ProcessGroupID{"storage-114", "storage-115"}}},
		"includes a stray exclusion by its name":        {removalCase{from: healthyCluster, given: excluding("10.9.9.9"), does: []string{"include 10.9.9.9"}}, named("10.9.9.9")},
		"has nothing to do about one that is not there": {removalCase{from: healthyCluster}, named("10.9.9.9")},
		"leaves an exclusion of many to whoever names it": {removalCase{
			from: healthyCluster, given: excluding("locality_zoneid:node-14", "storage-114"),
			holds: "locality_zoneid:node-14, which covers more than storage-114; name it with --target",
		}, group},
		"leaves a process alone that another control-plane instance may remove": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			excluding("locality_instance_id:other-storage-1")(s)
			s.Database.Status.Cluster.Processes["other"] = fdb.Process{Address: fdb.Address{Host: "10.9.9.9", Port: 4501}, Locality: map[string]string{fdb.LocalityInstanceID: "other-storage-1"}}
		}, holds: "because the process at 10.9.9.9:4501 belongs to other-storage-1, which is not in the status of sample"}, named("locality_instance_id:other-storage-1")},
		"leaves a group alone that another control-plane instance removes": {removalCase{from: inGlobalMode(healthyCluster), given: all(
			excluding("locality_instance_id:dc2-storage-1"), listed("dc2", 0, lists(fdb.PendingForRemoval), "dc2-storage-1"),
		), holds: "because another control-plane instance removes dc2-storage-1"}, named("locality_instance_id:dc2-storage-1")},
		"waits while the removals of others are unknown": {removalCase{
			from: inGlobalMode(healthyCluster), given: excluded(func(s *plan.Snapshot) { s.Coordination.Lists.Read = false }),
			holds: "cannot determine what other control-plane instances remove",
		}, group},
		"waits after a recovery":                        {removalCase{from: healthyCluster, given: excluded(recoveredAgo(599)), holds: "9m59s ago"}, group},
		"waits until a recovery is over":                {removalCase{from: healthyCluster, given: excluded(func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryAcceptingCommits }), holds: "recovery state is accepting_commits"}, group},
		"waits while a restore has the database locked": {removalCase{from: healthyCluster, given: excluded(func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }), holds: "locked"}, group},
		"waits while the database is unavailable":       {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"}, group},
		"waits while exclusions are unknown":            {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration = nil }, holds: "cannot determine which exclusions exist"}, group},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, IncludeTargets(tc.of)) })
	}
}
