package safety

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
