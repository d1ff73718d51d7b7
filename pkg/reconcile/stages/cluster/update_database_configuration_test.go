package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// withoutStatus is a snapshot of a new cluster in which no status document ends: what its pods show instead.
func withoutStatus(s *plan.Snapshot, version string) {
	s.Cluster.Spec.Version, s.Cluster.Status.RunningVersion = version, version
	dirs := &plan.DataDirs{Pods: map[string]*datadir.Files{}, Unread: map[string]string{}}
	for _, g := range s.Groups() {
		files := &datadir.Files{Coordination: []datadir.File{{Path: "/var/fdb/data/1/coordination-0.fdq", Blank: true}}}
		for _, p := range s.Database.Status.ProcessesOf(string(g.ProcessGroupID)) {
			dirs.Registered = append(dirs.Registered, p.Address.HostPort())
			files.Servers = append(files.Servers, datadir.Server{Addresses: []string{p.Address.Coordinator()}, Directory: "/var/fdb/data/1", Class: p.ClassType, Localities: p.Locality})
		}
		dirs.Pods[g.PodName(s.Cluster)] = files
	}
	s.Database = plan.DatabaseFacts{Unreachable: "it does not end", DataDirs: dirs}
}

// coordinatorPod is the pod of a coordinator.
func coordinatorPod(s *plan.Snapshot) *datadir.Files {
	c, _ := fdb.ParseConnectionString(s.Cluster.Status.ConnectionString)
	for _, files := range s.Database.DataDirs.Pods {
		if slices.ContainsFunc(files.Servers, func(server datadir.Server) bool {
			return slices.Contains(server.Addresses, c.Coordinators[0].Coordinator())
		}) {
			return files
		}
	}
	return nil
}

// withFilesAndNoState has the file of a log server in the pod of a coordinator that has no state. Its coordination
// file was written last so long ago.
func withFilesAndNoState(s *plan.Snapshot, ago time.Duration) {
	withoutStatus(s, "7.4.6")
	files := coordinatorPod(s)
	files.Data = []string{"/var/fdb/data/1/logqueue-V_2-0.fdq"}
	files.Coordination[0].Modified = s.Now.Add(-ago)
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
		"leaves the storage engine to a user while migrations are disabled": {
			from: stagestest.AnotherEngine, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Configuration.StorageMigrationType = new("disabled")
			},
			holds: "spec.databaseConfiguration.storage_migration_type must be aggressive", manual: true,
		},
		"changes the storage engine where the spec enables migrations": {
			from: stagestest.AnotherEngine, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Configuration.StorageMigrationType = new("disabled")
				s.Cluster.Spec.DatabaseConfiguration.StorageMigrationType = new(v1beta2.StorageMigrationAggressive)
			},
			does: []string{"run configure double ssd-rocksdb-v1 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[] storage_migration_type=aggressive"},
		},
		"changes the storage engine where the database has them enabled": {
			from: stagestest.AnotherEngine, given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Configuration.StorageMigrationType = new("gradual")
			},
			does: []string{"run configure double ssd-rocksdb-v1 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]"},
		},
		"changes other settings while migrations are disabled": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				differs(s)
				s.Database.Status.Cluster.Configuration.StorageMigrationType = new("disabled")
			},
			does: []string{changeLogs},
		},
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
		"creates one where 7.4.6 ends no status, and the files of all coordinators are without a state": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) { withoutStatus(s, "7.4.6") }, does: []string{create},
		},
		"creates none where a coordinator has a state": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				coordinatorPod(s).Coordination[0].Current = true
			},
			holds: "a database exists",
		},
		"creates none where a pod has the file of a storage server": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				coordinatorPod(s).Data = []string{"/var/fdb/data/1/storage-1.sqlite"}
			},
			holds: "either the coordinators lost their files, or the creation of the database was interrupted", manual: true,
		},
		"creates none by a status where a pod has the file of a storage server": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				status := s.Database.Status
				withoutStatus(s, "7.3.79")
				coordinatorPod(s).Data = []string{"/var/fdb/data/1/storage-1.sqlite"}
				s.Database.Status, s.Database.Unreachable = status, ""
			},
			holds: "either the coordinators lost their files, or the creation of the database was interrupted", manual: true,
		},
		"creates none by a status where a coordinator has a state": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				status := s.Database.Status
				withoutStatus(s, "7.3.79")
				coordinatorPod(s).Coordination[0].Current = true
				s.Database.Status, s.Database.Unreachable = status, ""
			},
			holds: "its status is that of one that was never configured",
		},
		"creates none by a status where a pod has files, and a coordinator is elsewhere": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				status := s.Database.Status
				withoutStatus(s, "7.3.79")
				coordinatorPod(s).Data = []string{"/var/fdb/data/1/storage-1.sqlite"}
				s.Cluster.Status.ConnectionString += ",10.99.0.1:4501"
				s.Database.Status, s.Database.Unreachable = status, ""
			},
			holds: "creates none: pods have files of a database, and coordinator 10.99.0.1:4501", manual: true,
		},
		"creates none while a coordinator has stored nothing": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				coordinatorPod(s).Coordination = nil
			},
			holds: "has not stored the ID of the connection string yet",
		},
		"creates none while the process of a coordinator does not run": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				coordinatorPod(s).Servers = nil
			},
			holds: "cannot determine yet whether a database exists",
		},
		"creates none while a pod cannot be read": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Database.DataDirs.Unread["sample-log-1"] = "timed out"
			},
			holds: "pod sample-log-1 could not be read: timed out",
		},
		"creates none where a coordinator is in no pod of the cluster": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Cluster.Status.ConnectionString += ",10.99.0.1:4501"
				s.Database.DataDirs.Registered = append(s.Database.DataDirs.Registered, "10.99.0.1:4501")
			},
			holds: "fdbserver 7.4.6 never completes the status document of a database that does not exist, and coordinator 10.99.0.1:4501", manual: true,
		},
		"creates none where the pod of a coordinator was recreated with another address": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				coordinatorPod(s).Servers[0].Addresses = []string{"10.99.0.1:4501"}
				s.Database.DataDirs.Registered = nil
			},
			holds: "cannot determine whether a database exists, and creates none", manual: true,
		},
		"waits while only another process of a coordinator's pod runs": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				server := &coordinatorPod(s).Servers[0]
				a, _ := fdb.ParseAddress(server.Addresses[0])
				server.Addresses = []string{fdb.Address{Host: a.Host, Port: a.Port + 2}.Coordinator()}
				s.Database.DataDirs.Registered = nil
			},
			holds: "cannot determine yet whether a database exists",
		},
		"creates none where the container of a coordinator has no od": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				coordinatorPod(s).Coordination[0] = datadir.File{Path: "/var/fdb/data/1/coordination-0.fdq", Current: true, Unknown: true}
			},
			holds: "its container has no od", manual: true,
		},
		"waits while the first files may be of a creation that is running": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withFilesAndNoState(s, 119*time.Second)
			},
			holds: "its creation may still be running",
		},
		"creates none where a creation was interrupted two minutes ago": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withFilesAndNoState(s, 2*time.Minute)
			},
			holds: "either the coordinators lost their files", manual: true,
		},
		"creates none while a bound PVC is of no process group": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Volumes["former-data"] = &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
			},
			holds: "the volume of PVC former-data could not be read",
		},
		"creates none while the PVCs are unknown": {
			from:  stagestest.Unconfigured,
			given: func(s *plan.Snapshot) { withoutStatus(s, "7.4.6"); s.Volumes = nil },
			holds: "the PVCs were not read",
		},
		"creates none over older PVCs, whatever the files show": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Cluster.CreationTimestamp = metav1.NewTime(s.Now)
				for _, claim := range s.Volumes {
					claim.CreationTimestamp = metav1.NewTime(s.Now.Add(-time.Hour))
				}
			},
			holds: "PVCs are older than the FoundationDBCluster", manual: true,
		},
		"creates none where the status records a configured one, whatever the files show": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Cluster.Status.Configured = true
			},
			holds: "the database does not answer",
		},
		"creates none while a bound PVC is in no pod": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				for _, g := range s.Groups() {
					if files := s.Database.DataDirs.Pods[g.PodName(s.Cluster)]; g.ProcessClass == v1beta2.ProcessClassStorage && files != coordinatorPod(s) {
						delete(s.Database.DataDirs.Pods, g.PodName(s.Cluster))
						s.Database.DataDirs.Registered = nil
						s.Volumes[g.PVCName(s.Cluster)] = &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
					}
				}
			},
			holds: "the volume of PVC sample-storage-",
		},
		"creates none while a process of no pod has registered": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Database.DataDirs.Registered = append(s.Database.DataDirs.Registered, "10.99.0.7:4501")
			},
			holds: "process 10.99.0.7:4501 registered, and runs in none of",
		},
		"waits for processes that have not registered": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Database.DataDirs.Registered = nil
			},
			holds: "storage processes in 0 fault domains, 2 required",
		},
		"waits where registered processes cannot be listed": {
			from: stagestest.Unconfigured, given: func(s *plan.Snapshot) {
				withoutStatus(s, "7.4.6")
				s.Database.DataDirs.Unlisted = "the processes that registered are unknown"
			},
			holds: "the processes that registered are unknown",
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
