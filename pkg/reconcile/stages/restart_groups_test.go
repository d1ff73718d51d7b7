package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// agedCluster returns a healthy cluster whose database reports the time: noon. Its processes started
// at eleven.
func agedCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	s.Database.Status.Cluster.ClusterControllerTimestamp = new(noon.Unix())
	return s
}

// restartedAgo sets the uptime of the processes of groups.
func restartedAgo(ago time.Duration, groups ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, id := range groups {
			uptime(s, id, ago)
		}
	}
}

func TestRestartGroups(t *testing.T) {
	everything := []v1beta2.ProcessGroupID{"log-101", "log-102", "log-103", "stateless-105", "stateless-106", "storage-114", "storage-115", "storage-116"}
	asked := func(strategy RestartStrategy, groups ...v1beta2.ProcessGroupID) Restart {
		return Restart{Groups: groups, Since: noon.Add(-30 * time.Minute), Strategy: strategy}
	}
	byWave, storage := asked(RestartByWave, everything...), everything[5:]
	const first = "restart 1 process of storage-114 at once"
	tests := map[string]struct {
		removalCase
		of Restart
	}{
		"begins with the storage of one fault domain": {removalCase{from: agedCluster, does: []string{first}, holds: "7 more process groups restart in later waves"}, byWave},
		"takes all storage of that fault domain along": {removalCase{
			from: agedCluster, given: func(s *plan.Snapshot) { shareZone(s, "storage-116", nodeName(14)) },
			does: []string{"restart 2 processes of storage-114, storage-116 at once"}, holds: "6 more",
		}, byWave},
		"does not treat groups without a fault domain as one fault domain": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").FaultDomain, s.Cluster.ProcessGroup("storage-115").FaultDomain = "", ""
		}, does: []string{first}, holds: "7 more"}, byWave},
		"goes on with the next fault domain":          {removalCase{from: agedCluster, given: restartedAgo(11*time.Minute, "storage-114"), does: []string{"restart 1 process of storage-115 at once"}, holds: "6 more"}, byWave},
		"goes on with logs, one fault domain of them": {removalCase{from: agedCluster, given: restartedAgo(11*time.Minute, storage...), does: []string{"restart 1 process of log-101 at once"}, holds: "4 more"}, byWave},
		"ends with all that keep no data": {removalCase{
			from: agedCluster, given: restartedAgo(11*time.Minute, append([]v1beta2.ProcessGroupID{"log-101", "log-102", "log-103"}, storage...)...),
			does: []string{"restart 2 processes of stateless-105, stateless-106 at once"},
		}, byWave},
		"restarts a coordinator apart from others that keep no data": {removalCase{
			from: agedCluster, given: coordinatesAt("stateless-105"),
			does: []string{"restart 1 process of stateless-105 at once"}, holds: "1 more",
		}, asked(RestartByWave, "stateless-105", "stateless-106")},
		"restarts one at a time":                    {removalCase{from: agedCluster, given: func(s *plan.Snapshot) { shareZone(s, "storage-115", nodeName(14)) }, does: []string{first}, holds: "2 more"}, asked(RestartRolling, storage...)},
		"restarts all at once":                      {removalCase{from: agedCluster, does: []string{"restart 3 processes of storage-114, storage-115, storage-116 at once"}}, asked(RestartAllAtOnce, storage...)},
		"has nothing to do once all have restarted": {removalCase{from: agedCluster, given: restartedAgo(time.Second, storage...)}, asked(RestartByWave, storage...)},
		"has nothing to do about a removed group":   {removalCase{from: agedCluster}, asked(RestartByWave, "storage-1")},
		"waits until a restarted process is back":   {removalCase{from: agedCluster, given: func(s *plan.Snapshot) { dropProcess(s, s.Cluster.ProcessGroup("storage-114")) }, holds: "until all processes of storage-114 report"}, byWave},
		"takes a process that does not tell its age for none that is old": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			editProcess(s, s.Cluster.ProcessGroup("storage-114"), func(p *fdb.Process) { p.UptimeSeconds = nil })
		}, holds: "until all processes of storage-114 report"}, byWave},
		"waits while the database does not tell the time": {removalCase{from: healthyCluster, holds: "report with their uptime"}, byWave},
		"waits until processes have been up long enough":  {removalCase{from: agedCluster, given: restartedAgo(599*time.Second, "storage-114"), holds: "storage-115 next: process at"}, byWave},
		"waits after a recovery":                          {removalCase{from: agedCluster, given: recoveredAgo(599), holds: "last recovery 9m59s ago"}, byWave},
		"waits while the database is not fully fault tolerant": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
		}, holds: "some data has 1 of 2 replicas, 2 required"}, byWave},
		"waits while a process that is not to restart has just vanished": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			dropProcess(s, s.Cluster.ProcessGroup("storage-116"))
		}, holds: "storage-116 does not report, since when is unknown"}, asked(RestartByWave, "storage-114")},
		"waits while a process of another fault domain has just started, whatever the minimum uptime is": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 1
			uptime(s, "storage-115", 12*time.Second)
		}, holds: "storage-115 started 12s ago, 1m30s required"}, byWave},
		"restarts what keeps nothing beside a process that has just started": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 1
			uptime(s, "storage-115", 12*time.Second)
		}, does: []string{"restart 1 process of stateless-105 at once"}}, asked(RestartByWave, "stateless-105")},
		"waits while another zone is under maintenance": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = nodeName(15) }, holds: "zone node-15 is under maintenance"}, byWave},
		"waits with a log, too, while another zone is under maintenance": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone = nodeName(15)
		}, holds: "zone node-15 is under maintenance"}, asked(RestartByWave, "log-101")},
		"restarts what keeps nothing beside a zone under maintenance": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone = nodeName(15)
		}, does: []string{"restart 1 process of stateless-105 at once"}}, asked(RestartByWave, "stateless-105")},
		"restarts the zone that is under maintenance": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = nodeName(14) }, does: []string{first}, holds: "7 more"}, byWave},
		"leaves a cluster alone that is being upgraded to another protocol": {removalCase{
			from: agedCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" },
			holds: "an upgrade from 7.3.79 to 7.4.6 is in progress",
		}, byWave},
		"leaves a cluster alone that goes to TLS": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, holds: "conversion to or from TLS"}, byWave},
		"leaves groups alone that the spec keeps from restarting": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-115"}
		}, holds: "storage-115 are kept from restarting"}, byWave},
		"waits while a restore has the database locked": {removalCase{from: agedCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked"}, byWave},
		"waits while the database is unavailable":       {removalCase{from: agedCluster, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"}, byWave},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, RestartGroups(tc.of)) })
	}
}

// coordinatesAt makes a group the first coordinator.
func coordinatesAt(id v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Database.Status.Client.Coordinators.Coordinators[0].Address = addressesOf(s.Database.Status, id)[0]
	}
}

// Another control-plane instance does not know which processes a wave takes down.
func TestTheLockOutlastsAWave(t *testing.T) {
	for strategy, want := range map[RestartStrategy]time.Duration{RestartByWave: fdb.DeathNoticedAfter, RestartRolling: fdb.DeathNoticedAfter, RestartAllAtOnce: 0} {
		d := RestartGroups(Restart{Groups: []v1beta2.ProcessGroupID{"storage-114"}, Since: noon, Strategy: strategy}).Decide(agedCluster(t))
		if len(d.Actions) != 1 || plan.EffectOf(d.Actions[0]).Quiet != want {
			t.Errorf("%s: %v, want the lock to be kept for %s", strategy, described(d), want)
		}
	}
}
