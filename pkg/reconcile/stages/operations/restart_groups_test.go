package operations

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// restartedAgo sets the uptime of the processes of groups.
func restartedAgo(ago time.Duration, groups ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, id := range groups {
			stagestest.Uptime(s, id, ago)
		}
	}
}

func TestRestartGroups(t *testing.T) {
	everything := []v1beta2.ProcessGroupID{"log-101", "log-102", "log-103", "stateless-105", "stateless-106", "storage-114", "storage-115", "storage-116"}
	requested := func(strategy RestartStrategy, groups ...v1beta2.ProcessGroupID) Restart {
		return Restart{Groups: groups, Since: stagestest.Noon.Add(-30 * time.Minute), Strategy: strategy}
	}
	byWave, storage := requested(RestartByWave, everything...), everything[5:]
	const first = "restart 1 process of storage-114 at once"
	tests := map[string]struct {
		stagestest.RemovalCase
		of Restart
	}{
		"begins with the storage of one fault domain": {stagestest.RemovalCase{From: stagestest.AgedCluster, Does: []string{first}, Holds: "7 more process groups restart in later waves"}, byWave},
		"takes all storage of that fault domain along": {stagestest.RemovalCase{
			From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { stagestest.ShareZone(s, "storage-116", stagestest.NodeName(14)) },
			Does: []string{"restart 2 processes of storage-114, storage-116 at once"}, Holds: "6 more",
		}, byWave},
		"does not treat groups without a fault domain as one fault domain": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-114").FaultDomain, s.Cluster.ProcessGroup("storage-115").FaultDomain = "", ""
		}, Does: []string{first}, Holds: "7 more"}, byWave},
		"goes on with the next fault domain":          {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: restartedAgo(11*time.Minute, "storage-114"), Does: []string{"restart 1 process of storage-115 at once"}, Holds: "6 more"}, byWave},
		"goes on with logs, one fault domain of them": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: restartedAgo(11*time.Minute, storage...), Does: []string{"restart 1 process of log-101 at once"}, Holds: "4 more"}, byWave},
		"ends with all that keep no data": {stagestest.RemovalCase{
			From: stagestest.AgedCluster, Given: restartedAgo(11*time.Minute, append([]v1beta2.ProcessGroupID{"log-101", "log-102", "log-103"}, storage...)...),
			Does: []string{"restart 2 processes of stateless-105, stateless-106 at once"},
		}, byWave},
		"restarts a coordinator apart from others that keep no data": {stagestest.RemovalCase{
			From: stagestest.AgedCluster, Given: coordinatesAt("stateless-105"),
			Does: []string{"restart 1 process of stateless-105 at once"}, Holds: "1 more",
		}, requested(RestartByWave, "stateless-105", "stateless-106")},
		"restarts one at a time":                    {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { stagestest.ShareZone(s, "storage-115", stagestest.NodeName(14)) }, Does: []string{first}, Holds: "2 more"}, requested(RestartRolling, storage...)},
		"restarts all at once":                      {stagestest.RemovalCase{From: stagestest.AgedCluster, Does: []string{"restart 3 processes of storage-114, storage-115, storage-116 at once"}}, requested(RestartAllAtOnce, storage...)},
		"has nothing to do once all have restarted": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: restartedAgo(time.Second, storage...)}, requested(RestartByWave, storage...)},
		"has nothing to do about a removed group":   {stagestest.RemovalCase{From: stagestest.AgedCluster}, requested(RestartByWave, "storage-1")},
		"waits until a restarted process is back":   {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-114")) }, Holds: "until all processes of storage-114 report"}, byWave},
		"takes a process that does not tell its age for none that is old": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("storage-114"), func(p *fdb.Process) { p.UptimeSeconds = nil })
		}, Holds: "until all processes of storage-114 report"}, byWave},
		"waits while the database does not tell the time": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Holds: "report with their uptime"}, byWave},
		"waits until processes have been up long enough":  {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: restartedAgo(599*time.Second, "storage-114"), Holds: "storage-115 next: process at"}, byWave},
		"waits after a recovery":                          {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: stagestest.RecoveredAgo(599), Holds: "last recovery 9m59s ago"}, byWave},
		"waits while the database is not fully fault tolerant": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
		}, Holds: "some data has 1 of 2 replicas, 2 required"}, byWave},
		"waits while a process that is not to restart has just vanished": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-116"))
		}, Holds: "storage-116 does not report, since when is unknown"}, requested(RestartByWave, "storage-114")},
		"waits while a process of another fault domain has just started, whatever the minimum uptime is": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 1
			stagestest.Uptime(s, "storage-115", 12*time.Second)
		}, Holds: "storage-115 started 12s ago, 1m30s required"}, byWave},
		"restarts what keeps nothing beside a process that has just started": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 1
			stagestest.Uptime(s, "storage-115", 12*time.Second)
		}, Does: []string{"restart 1 process of stateless-105 at once"}}, requested(RestartByWave, "stateless-105")},
		"waits while it is unknown whether another zone is under maintenance": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: stagestest.MaintenanceUnread, Holds: "does not report whether a zone is under maintenance"}, byWave},
		"waits while another zone is under maintenance":                       {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = stagestest.NodeName(15) }, Holds: "zone node-15 is under maintenance"}, byWave},
		"waits with a log, too, while another zone is under maintenance": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone = stagestest.NodeName(15)
		}, Holds: "zone node-15 is under maintenance"}, requested(RestartByWave, "log-101")},
		"restarts what keeps nothing beside a zone under maintenance": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Database.Status.Cluster.MaintenanceZone = stagestest.NodeName(15)
		}, Does: []string{"restart 1 process of stateless-105 at once"}}, requested(RestartByWave, "stateless-105")},
		"restarts the zone that is under maintenance": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = stagestest.NodeName(14) }, Does: []string{first}, Holds: "7 more"}, byWave},
		"leaves a cluster alone that is being upgraded to another protocol": {stagestest.RemovalCase{
			From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" },
			Holds: "an upgrade from 7.3.79 to 7.4.6 is in progress",
		}, byWave},
		"leaves a cluster alone that goes to TLS": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, Holds: "conversion to or from TLS"}, byWave},
		"leaves groups alone that the spec keeps from restarting": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-115"}
		}, Holds: "storage-115 are kept from restarting"}, byWave},
		"waits while a restore has the database locked": {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked"}, byWave},
		"waits while the database is unavailable":       {stagestest.RemovalCase{From: stagestest.AgedCluster, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"}, byWave},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, RestartGroups(tc.of)) })
	}
}

// coordinatesAt makes a group the first coordinator.
func coordinatesAt(id v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Database.Status.Client.Coordinators.Coordinators[0].Address = readings.AddressesOf(s.Database.Status, id)[0]
	}
}

// Another control-plane instance does not know which processes a wave takes down.
func TestRestartHoldsTheLockAfterAWaveExceptAllAtOnce(t *testing.T) {
	for strategy, want := range map[RestartStrategy]time.Duration{RestartByWave: fdb.DeathNoticedAfter, RestartRolling: fdb.DeathNoticedAfter, RestartAllAtOnce: 0} {
		d := RestartGroups(Restart{Groups: []v1beta2.ProcessGroupID{"storage-114"}, Since: stagestest.Noon, Strategy: strategy}).Decide(stagestest.AgedCluster(t))
		if len(d.Actions) != 1 || plan.EffectOf(d.Actions[0]).Cooldown != want {
			t.Errorf("%s: %v, want the lock to be kept for %s", strategy, stagestest.Described(d), want)
		}
	}
}

// A question that is answered yes is about a restart that the stage would do at once.
func TestRestartChecksMatchTheRestartStage(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		may   bool
	}{
		"nothing prevents it":             {func(*plan.Snapshot) {}, true},
		"too soon after a recovery":       {stagestest.RecoveredAgo(599), false},
		"another process does not report": {func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-116")) }, false},
		"another process has just started": {func(s *plan.Snapshot) {
			s.Cluster.Spec.MinimumUptimeSecondsForBounce = 1
			stagestest.Uptime(s, "storage-115", 12*time.Second)
		}, false},
		"another zone is under maintenance": {func(s *plan.Snapshot) { s.Database.Status.Cluster.MaintenanceZone = stagestest.NodeName(15) }, false},
		"an upgrade is in progress":         {func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.4.6" }, false},
		"a conversion to TLS is in progress": {func(s *plan.Snapshot) {
			s.Cluster.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}
		}, false},
		"the spec keeps the group from restarting": {func(s *plan.Snapshot) {
			s.Cluster.Spec.Buggify.IgnoreDuringRestart = []v1beta2.ProcessGroupID{"storage-114"}
		}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.AgedCluster(t)
			tc.given(&s)
			r := Restart{Groups: []v1beta2.ProcessGroupID{"storage-114"}, Since: stagestest.Noon.Add(-30 * time.Minute), Strategy: RestartByWave}
			checks := r.MayRestart(s, []*v1beta2.ProcessGroupStatus{s.Cluster.ProcessGroup("storage-114")})
			may := !slices.ContainsFunc(checks, func(c plan.Check) bool { return !c.OK })
			if acts := len(RestartGroups(r).Decide(s).Actions) > 0; may != tc.may || acts != tc.may {
				t.Errorf("may restart: %t, restarts: %t, want %t; checks %+v", may, acts, tc.may, checks)
			}
		})
	}
}
