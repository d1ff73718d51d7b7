package safety

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// healthy is a database to which everything may be done.
func healthy(t *testing.T) plan.DatabaseFacts {
	t.Helper()
	status, err := fdb.ParseStatus([]byte(`{
		"client": {"coordinators": {"quorum_reachable": true, "coordinators": []}, "database_status": {"available": true, "healthy": true}},
		"cluster": {
			"database_lock_state": {"locked": false},
			"recovery_state": {"name": "fully_recovered", "active_generations": 1, "seconds_since_last_recovered": 3600},
			"data": {"state": {"name": "healthy", "healthy": true}},
			"qos": {"worst_data_lag_storage_server": {"seconds": 1}, "worst_durability_lag_storage_server": {"seconds": 5},
				"worst_queue_bytes_log_server": 1000, "worst_queue_bytes_storage_server": 1000},
			"processes": {"a": {"address": "10.0.0.1:4501", "version": "7.3.79"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return plan.DatabaseFacts{Status: status}
}

// aMinute asks for a recovery at least a minute ago.
func aMinute(d plan.DatabaseFacts) plan.Check { return RecoveredFor(d, time.Minute) }

// checks are the questions about the database alone.
var checks = map[plan.Gate]func(plan.DatabaseFacts) plan.Check{
	plan.GateAvailable: Available,
	plan.GateDBLock:    Unlocked,
	plan.GateGens:      FewGenerations,
	plan.GateRecovery:  aMinute,
	plan.GateDD:        DataHealthy,
	plan.GateQoS:       LoadWithinLimits,
}

func TestAStableDatabasePassesEverySafetyCheck(t *testing.T) {
	for gate, ask := range checks {
		if c := ask(healthy(t)); !c.OK || c.Gate != gate || c.Question == "" || c.Evidence == "" {
			t.Errorf("%s: %+v", gate, c)
		}
	}
}

// Absent is not zero: what the facts do not tell is answered with no.
func TestChecksFailIfTheirStatusFieldIsMissing(t *testing.T) {
	type absence struct {
		gates  []plan.Gate
		remove func(*fdb.Status)
	}
	absences := map[string]absence{
		"whether it is locked":        {[]plan.Gate{plan.GateDBLock}, func(s *fdb.Status) { s.Cluster.DatabaseLockState = nil }},
		"the recovery state":          {[]plan.Gate{plan.GateGens, plan.GateRecovery}, func(s *fdb.Status) { s.Cluster.RecoveryState = nil }},
		"the active generations":      {[]plan.Gate{plan.GateGens}, func(s *fdb.Status) { s.Cluster.RecoveryState.ActiveGenerations = nil }},
		"the age of the recovery":     {[]plan.Gate{plan.GateRecovery}, func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = nil }},
		"a recovery in the future":    {[]plan.Gate{plan.GateRecovery}, func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(-1.0) }},
		"the data":                    {[]plan.Gate{plan.GateDD}, func(s *fdb.Status) { s.Cluster.Data = nil }},
		"the data's state":            {[]plan.Gate{plan.GateDD}, func(s *fdb.Status) { s.Cluster.Data.State = nil }},
		"whether the data is healthy": {[]plan.Gate{plan.GateDD}, func(s *fdb.Status) { s.Cluster.Data.State.Healthy = nil }},
		"its own configuration":       {[]plan.Gate{plan.GateDD}, func(s *fdb.Status) { s.Cluster.Messages = []fdb.Message{{Name: "unreadable_configuration"}} }},
		"the load":                    {[]plan.Gate{plan.GateQoS}, func(s *fdb.Status) { s.Cluster.QoS = nil }},
		"the data lag":                {[]plan.Gate{plan.GateQoS}, func(s *fdb.Status) { s.Cluster.QoS.WorstDataLagStorageServer = nil }},
		"the data lag in seconds":     {[]plan.Gate{plan.GateQoS}, func(s *fdb.Status) { s.Cluster.QoS.WorstDataLagStorageServer.Seconds = nil }},
		"the durability lag":          {[]plan.Gate{plan.GateQoS}, func(s *fdb.Status) { s.Cluster.QoS.WorstDurabilityLagStorageServer = nil }},
		"the log queue":               {[]plan.Gate{plan.GateQoS}, func(s *fdb.Status) { s.Cluster.QoS.WorstQueueBytesLogServer = nil }},
		"the storage queue":           {[]plan.Gate{plan.GateQoS}, func(s *fdb.Status) { s.Cluster.QoS.WorstQueueBytesStorageServer = nil }},
	}
	for name, a := range absences {
		for _, gate := range a.gates {
			t.Run(fmt.Sprintf("%s without %s", gate, name), func(t *testing.T) {
				d := healthy(t)
				a.remove(d.Status)
				if c := checks[gate](d); c.OK || c.Evidence == "" || c.Gate != gate {
					t.Errorf("got %+v, want a refusal with evidence", c)
				}
			})
		}
	}
}

func TestAnUnknownRecoveryAgeFailsEvenAZeroMinimum(t *testing.T) {
	d := healthy(t)
	d.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = nil
	if c := RecoveredFor(d, 0); c.OK {
		t.Errorf("got %+v", c)
	}
}

func TestEveryDatabaseCheckRefusesWithoutAStatusDocument(t *testing.T) {
	for gate, ask := range checks {
		for want, d := range map[string]plan.DatabaseFacts{
			"there is no cluster file yet": {NotQueried: "there is no cluster file yet"},
			"timed out":                    {Unreachable: "timed out"},
		} {
			if c := ask(d); c.OK || c.Evidence != "no database status: "+want || c.Gate != gate {
				t.Errorf("%s: got %+v, want a refusal because %s", gate, c, want)
			}
		}
	}
}

func TestDatabaseSafetyChecks(t *testing.T) {
	tests := map[string]struct {
		gate  plan.Gate
		given func(*fdb.Status)
		ok    bool
		says  string
	}{
		"an unavailable database is refused": {plan.GateAvailable, func(s *fdb.Status) { s.Client.DatabaseStatus.Available = false }, false, "its recovery state is fully_recovered"},
		"an unavailable database of which nothing is known is refused": {plan.GateAvailable, func(s *fdb.Status) {
			s.Client.DatabaseStatus.Available = false
			s.Cluster.RecoveryState = nil
		}, false, "its recovery state is unknown"},
		"a locked database is refused":          {plan.GateDBLock, func(s *fdb.Status) { s.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"} }, false, "locked with UID ab"},
		"10 generations are few":                {plan.GateGens, func(s *fdb.Status) { s.Cluster.RecoveryState.ActiveGenerations = new(10) }, true, "10 active generations, at most 10"},
		"11 generations are many":               {plan.GateGens, func(s *fdb.Status) { s.Cluster.RecoveryState.ActiveGenerations = new(11) }, false, "11 active generations"},
		"a minute is enough":                    {plan.GateRecovery, func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(60.0) }, true, "1m0s ago"},
		"less is not":                           {plan.GateRecovery, func(s *fdb.Status) { s.Cluster.RecoveryState.SecondsSinceLastRecovered = new(59.9) }, false, "1m0s ago"},
		"unhealthy data is refused":             {plan.GateDD, func(s *fdb.Status) { s.Cluster.Data.State = &fdb.DataState{Name: "healing", Healthy: new(bool)} }, false, "data state is healing"},
		"initializing is unknown":               {plan.GateDD, func(s *fdb.Status) { s.Cluster.Data.State = &fdb.DataState{Name: "initializing"} }, false, "data state is initializing"},
		"a minute of data lag is within limits": {plan.GateQoS, func(s *fdb.Status) { s.Cluster.QoS.WorstDataLagStorageServer.Seconds = new(60.0) }, true, "within limits"},
		"more is not":                           {plan.GateQoS, func(s *fdb.Status) { s.Cluster.QoS.WorstDataLagStorageServer.Seconds = new(61.0) }, false, "data lag of a storage process is 61 s, at most 60 s"},
		"nor is more durability lag":            {plan.GateQoS, func(s *fdb.Status) { s.Cluster.QoS.WorstDurabilityLagStorageServer.Seconds = new(61.0) }, false, "durability lag"},
		"250 MiB of queue are within limits":    {plan.GateQoS, func(s *fdb.Status) { s.Cluster.QoS.WorstQueueBytesLogServer = new(int64(250 << 20)) }, true, "within limits"},
		"a longer log queue is not":             {plan.GateQoS, func(s *fdb.Status) { s.Cluster.QoS.WorstQueueBytesLogServer = new(int64(251 << 20)) }, false, "queue of a log process is 251 MiB, at most 250 MiB"},
		"nor is a longer storage queue":         {plan.GateQoS, func(s *fdb.Status) { s.Cluster.QoS.WorstQueueBytesStorageServer = new(int64(251 << 20)) }, false, "queue of a storage process"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := healthy(t)
			tc.given(d.Status)
			c := checks[tc.gate](d)
			if c.OK != tc.ok || !strings.Contains(c.Evidence, tc.says) {
				t.Errorf("got %t, %q, want %t, %q", c.OK, c.Evidence, tc.ok, tc.says)
			}
		})
	}
}

func TestReplicasRemainingAfterARemoval(t *testing.T) {
	copies := func(storage, logs int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &storage
			s.Database.Status.Cluster.Logs[0].ReplicationFactor = &logs
		}
	}
	tests := map[string]struct {
		groups   []v1beta2.ProcessGroupID
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"one of two of the data":       {[]v1beta2.ProcessGroupID{"storage-1"}, copies(2, 3), true, "2 replicas of the data now, 1 after the removal, 1 required"},
		"the only one of the data":     {[]v1beta2.ProcessGroupID{"storage-1"}, copies(1, 3), false, "1 replica of the data now, 0 after the removal, 1 required"},
		"the only one of the logs":     {[]v1beta2.ProcessGroupID{"log-1"}, copies(3, 1), false, "1 replica of the logs now, 0 after the removal, 1 required"},
		"the fewer of both are logs":   {[]v1beta2.ProcessGroupID{"storage-1", "log-1"}, copies(3, 2), true, "2 replicas of the logs now, 1 after the removal, 1 required"},
		"the fewer of both are data":   {[]v1beta2.ProcessGroupID{"storage-1", "log-1"}, copies(2, 3), true, "2 replicas of the data now, 1 after the removal, 1 required"},
		"equally many":                 {[]v1beta2.ProcessGroupID{"log-1", "storage-1"}, copies(2, 2), true, "2 replicas of the data now, 1 after the removal, 1 required"},
		"nothing is kept":              {[]v1beta2.ProcessGroupID{"stateless-1"}, copies(1, 1), true, "the process groups keep no data"},
		"nothing is taken":             {nil, copies(1, 1), true, "the process groups keep no data"},
		"a coordinator counts as logs": {[]v1beta2.ProcessGroupID{"coordinator-1"}, copies(3, 2), true, "2 replicas of the logs now, 1 after the removal, 1 required"},
		"the data is unknown": {
			[]v1beta2.ProcessGroupID{"storage-1", "log-1"},
			func(s *plan.Snapshot) { s.Database.Status.Cluster.Data = nil },
			false, "the number of replicas of the data is unknown",
		},
		"the logs are unknown": {
			[]v1beta2.ProcessGroupID{"storage-1", "log-1"},
			func(s *plan.Snapshot) { s.Database.Status.Cluster.Logs = nil },
			false, "the number of replicas of the logs is unknown",
		},
		"no answer": {[]v1beta2.ProcessGroupID{"storage-1"}, func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			var groups []*v1beta2.ProcessGroupStatus
			for _, id := range tc.groups {
				groups = append(groups, s.Cluster.ProcessGroup(id))
			}
			if c := ReplicaRemains(s, groups); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}

// inForce has the database be configured for a redundancy, with so many replicas of all data.
func inForce(replicas int, c fdb.Configuration) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		c.ExcludedServers = s.Database.Status.Cluster.Configuration.ExcludedServers
		s.Database.Status.Cluster.Configuration = &c
		for i := range s.Database.Status.Cluster.Data.TeamTrackers {
			s.Database.Status.Cluster.Data.TeamTrackers[i].State.MinReplicasRemaining = &replicas
		}
	}
}

// A database can be in a mode that no cluster asks for, set by a user: no pass can
// tell then how many copies are enough.
func TestReplicaChecksFailForAnUnknownRedundancyMode(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		// because is a part of why it is not; empty when there are enough.
		because string
	}{
		"an unknown fallback":                         {inForce(1, fdb.Configuration{RedundancyMode: "three_data_hall_fallback"}), "three_data_hall_fallback is unknown"},
		"the same, however many there are":            {inForce(9, fdb.Configuration{RedundancyMode: "three_datacenter"}), "three_datacenter is unknown"},
		"a custom one reports its own number":         {inForce(2, fdb.Configuration{StorageReplicas: 3}), "some data has 2 of 3 replicas, 3 required"},
		"a custom one that is complete":               {given: inForce(3, fdb.Configuration{StorageReplicas: 3})},
		"one that reports nothing is the spec's":      {inForce(1, fdb.Configuration{}), "some data has 1 of 2 replicas, 2 required"},
		"one that reports nothing, with all replicas": {given: inForce(2, fdb.Configuration{})},
		"nothing is reported, and the spec's is unknown": {func(s *plan.Snapshot) {
			inForce(2, fdb.Configuration{})(s)
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = "nonsense"
		}, "nonsense is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			if c := FullFaultTolerance(s); c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("tolerant: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
			unresponsive(&s, time.Hour)
			if c := Drained(s, s.Groups()[0]); c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("drained while silent: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
		})
	}
}

func TestARegionIsNotCompleteIfTheRedundancyModeIsUnknown(t *testing.T) {
	yes := true
	of := func(c *fdb.Configuration) plan.DatabaseFacts {
		s := draining(t)
		status := s.Database.Status
		status.Cluster.FullReplication, status.Cluster.Configuration = &yes, c
		tracker := status.Cluster.Data.TeamTrackers[0]
		tracker.State.Healthy, tracker.Primary = &yes, true
		other := tracker
		other.Primary = false
		status.Cluster.Data.TeamTrackers = []fdb.TeamTracker{tracker, other}
		return s.Database
	}
	tests := map[string]struct {
		configuration *fdb.Configuration
		because       string
	}{
		"double is known":           {&fdb.Configuration{RedundancyMode: fdb.RedundancyDouble}, ""},
		"custom, with a number":     {&fdb.Configuration{StorageReplicas: 3}, "too few replicas of some data, 3 required"},
		"custom, without a number":  {&fdb.Configuration{}, "is unknown for the redundancy mode unknown"},
		"a fallback":                {&fdb.Configuration{RedundancyMode: "three_data_hall_fallback"}, "is unknown for the redundancy mode three_data_hall_fallback"},
		"no configuration is known": {nil, "the status document has no configuration"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if c := RegionsReplicated(of(tc.configuration)); c.OK != (tc.because == "") || !strings.Contains(c.Evidence, tc.because) {
				t.Errorf("complete: %t because %q, want because %q", c.OK, c.Evidence, tc.because)
			}
		})
	}
}

func TestAnUnknownRedundancyModeCannotBeSatisfied(t *testing.T) {
	c := CanHold(reporting(9, "storage", "log"), fdb.Configuration{RedundancyMode: "three_data_hall_fallback"})
	if c.OK || !strings.Contains(c.Evidence, "the number of fault domains that three_data_hall_fallback requires is unknown") {
		t.Errorf("got %+v", c)
	}
}

func TestAnUnknownRedundancyModeCountsAsUnreplicated(t *testing.T) {
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"double":                        {func(*plan.Snapshot) {}, false},
		"the database cannot be asked":  {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false},
		"a fallback":                    {inForce(2, fdb.Configuration{RedundancyMode: "three_data_hall_fallback"}), true},
		"custom, with one copy of data": {inForce(1, fdb.Configuration{StorageReplicas: 1, LogReplicas: 2}), true},
		"custom, with one copy of logs": {inForce(2, fdb.Configuration{StorageReplicas: 2, LogReplicas: 1}), true},
		"custom, with two of each":      {inForce(2, fdb.Configuration{StorageReplicas: 2, LogReplicas: 2}), false},
		"the spec names an unknown one": {func(s *plan.Snapshot) {
			s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyMode("nonsense")
		}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			tc.given(&s)
			if got := withoutCopies(s); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}
