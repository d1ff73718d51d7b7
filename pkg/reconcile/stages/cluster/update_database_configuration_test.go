package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// timedOut is a snapshot in which fdbcli gave up on the status document, as recorded with 7.4.6 of a
// database that was never created.
func timedOut(s *plan.Snapshot, version string) {
	s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = version, version
	partial := &fdb.Status{}
	partial.Client.Coordinators.QuorumReachable = true
	partial.Client.Messages = []fdb.Message{{Name: fdb.MessageIncompleteTimeout}}
	s.Database = plan.DatabaseFacts{Unreachable: "timed out", Partial: partial}
}

func TestUpdateDatabaseConfiguration(t *testing.T) {
	const create = "run configure new double ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]"
	const changeLogs = "run configure double ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]"
	differs := func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.Logs = 7 }
	tests := map[string]struct {
		from  func(testing.TB) plan.Snapshot
		given func(*plan.Snapshot)
		does  []string
		// holds is a part of the reason; empty for none.
		holds  string
		manual bool
	}{
		"creates a database that was never configured": {from: stagestest.Unconfigured, does: []string{create}},
		"never creates one on a status that records a configured one": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = true },
			holds: "the status records a configured database", manual: true,
		},
		"never creates one where the spec names one that exists": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { s.Cluster.Spec.SeedConnectionString = stagestest.SampleConnectionString },
			holds: "spec.seedConnectionString names a database that exists", manual: true,
		},
		"never creates one over PVCs that are older than the resource": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				s.Cluster.CreationTimestamp = metav1.NewTime(s.Now)
				for _, claim := range s.Volumes {
					claim.CreationTimestamp = metav1.NewTime(s.Now.Add(-time.Hour))
				}
			},
			holds: "PVCs are older than the FoundationDBCluster", manual: true,
		},
		"creates one over PVCs of this resource": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				s.Cluster.CreationTimestamp = metav1.NewTime(s.Now.Add(-time.Hour))
				for _, claim := range s.Volumes {
					claim.CreationTimestamp = metav1.NewTime(s.Now)
				}
			},
			does: []string{create},
		},
		"never creates one because the layers say configurationMissing": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.RecoveryState.Name = "recruiting_transaction_servers"
			},
			holds: "does not report its configuration",
		},
		"never creates one without an answer": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} },
			holds: "no database answers yet (timed out)",
		},
		"creates none where 7.4.6 does not end the status of a database that was never created": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { timedOut(s, "7.4.6") },
			holds: "cannot determine whether a database exists, and creates none: fdbserver 7.4.6 ends no status document", manual: true,
		},
		"waits where 7.3.79 would end it": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { timedOut(s, "7.3.79") },
			holds: "no database answers yet (timed out)",
		},
		"waits for enough fault domains before creating one": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				for _, g := range s.Groups() {
					stagestest.EditProcess(s, g, func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-1" })
				}
			},
			holds: "storage processes in 1 fault domain, 2 required",
		},
		"does nothing when the spec disables it": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.ConfigureDatabase = new(bool) },
		},
		"leaves a database alone that matches the spec": {from: stagestest.HealthyCluster},
		"changes what differs":                          {from: stagestest.HealthyCluster, given: differs, does: []string{changeLogs}},
		"waits after a recovery": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				age := 59.0
				s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = &age
			}, holds: "59s ago",
		},
		"waits while the age of the recovery is unknown": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = nil
			}, holds: "does not report the age of the last recovery",
		},
		"waits while data distribution starts": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				s.Database.Status.Cluster.Data.State = &fdb.DataState{Name: "initializing"}
			}, holds: "data state is initializing",
		},
		"waits while a log queue is long": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				queue := int64(maxQueue + 1)
				s.Database.Status.Cluster.QoS.WorstQueueBytesLogServer = &queue
			}, holds: "queue of a log process is 250 MiB",
		},
		"waits while many generations are active": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				n := 11
				s.Database.Status.Cluster.RecoveryState.ActiveGenerations = &n
			}, holds: "11 active generations, at most 10",
		},
		"waits while a restore has the database locked": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				s.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"}
			}, holds: "locked with UID ab",
		},
		"does not choose a redundancy that cannot hold": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
			}, holds: "storage processes in 0 data halls, 3 required",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			if tc.given != nil {
				tc.given(&s)
			}
			d := UpdateDatabaseConfiguration.Decide(s)
			if diff := cmp.Diff(tc.does, stagestest.Described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if got := stagestest.Reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if d.Hold != nil && d.Hold.Manual != tc.manual {
				t.Errorf("needs a human: %t, want %t", d.Hold.Manual, tc.manual)
			}
		})
	}
}

const maxQueue = 250 << 20

func TestANewDatabaseIsCreatedWithoutALockAndChangedUnderIt(t *testing.T) {
	created := UpdateDatabaseConfiguration.Decide(stagestest.Unconfigured(t)).Actions[0]
	if plan.EffectOf(created).Locked {
		t.Error("creating a database needs a lock that only a database can hold")
	}
	s := stagestest.HealthyCluster(t)
	s.Database.Status.Cluster.Configuration.Logs = 7
	if changed := UpdateDatabaseConfiguration.Decide(s).Actions[0]; !plan.EffectOf(changed).Locked {
		t.Error("a configuration is changed without the lock")
	}
}
