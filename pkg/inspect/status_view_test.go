package inspect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// For some seconds after a recovery a database calls itself healthy, and does not report how many copies its data has.
func TestADatabaseWhoseCopiesAreNotCountedIsNotShownAsGood(t *testing.T) {
	for name, tc := range map[string]struct {
		given func(*Facts)
		tone  list.Tone
		title string
	}{
		"they are counted":      {func(*Facts) {}, list.Good, "Healthy: all data has its 2 copies"},
		"they are not reported": {unknownCopies, list.Unsure, "Available: data distribution is starting and the number of copies unknown"},
		"and something is wrong": {func(f *Facts) {
			f.Database.Status.Cluster.Data.TeamTrackers, f.Database.Status.Client.DatabaseStatus.Healthy = nil, false
		}, list.Warn, "Degraded: "},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			if v := NewStatusView(Metadata{}, f); v.Tone() != tc.tone || !strings.HasPrefix(v.Summary, tc.title) {
				t.Errorf("tone %d: %s", v.Tone(), v.Summary)
			}
		})
	}
}

func TestClusterStateAndFaultToleranceOfTheStatusView(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T, *Facts)
		state State
		zones int // -1 for unknown
		// warning is one of the warnings, if not empty.
		warning string
	}{
		"all is well": {given: func(*testing.T, *Facts) {}, state: StateHealthy, zones: 1},
		"a database that was just created": {
			given: func(t *testing.T, f *Facts) {
				t.Helper()
				f.Database.Status = inspecttest.Recorded(t, "04-initializing-0")
			}, state: StateHealthy, zones: 1,
		},
		"a database that does not call itself healthy": {
			given: func(_ *testing.T, f *Facts) { f.Database.Status.Client.DatabaseStatus.Healthy = false }, state: StateDegraded, zones: 1,
		},
		"a client with another cluster file": {
			given: func(_ *testing.T, f *Facts) {
				f.Database.Status.Client.DatabaseStatus.Healthy = false
				f.Database.Status.Cluster.Messages = []fdb.Message{{Name: "client_issues", Issues: []fdb.ClientIssue{
					{Name: "incorrect_cluster_file_contents", Count: 1, Addresses: []string{"10.1.0.9:40312"}},
				}}}
			}, state: StateHealthy, zones: 1,
			warning: "clients have issues: incorrect_cluster_file_contents of 1 client at 10.1.0.9:40312; FoundationDB reports them until 10 minutes after a client ended",
		},
		"a client with another cluster file, and another message": {
			given: func(_ *testing.T, f *Facts) {
				f.Database.Status.Client.DatabaseStatus.Healthy = false
				f.Database.Status.Cluster.Messages = []fdb.Message{{Name: "client_issues"}, {Name: "unreachable_processes"}}
			}, state: StateDegraded, zones: 1,
		},
		"a client with another cluster file, and a message of a process": {
			given: func(_ *testing.T, f *Facts) {
				f.Database.Status.Client.DatabaseStatus.Healthy = false
				f.Database.Status.Cluster.Messages = []fdb.Message{{Name: "client_issues"}}
				for id, p := range f.Database.Status.Cluster.Processes {
					p.Messages = []fdb.Message{{Name: "file_open_error"}}
					f.Database.Status.Cluster.Processes[id] = p
					break
				}
			}, state: StateDegraded, zones: 1,
		},
		"a silent storage process counts at once, though the database reports full tolerance": {
			given: func(_ *testing.T, f *Facts) { inspecttest.Unresponsiveness(f.Snapshot, "storage-3", time.Second) }, state: StateDegraded, zones: 0,
		},
		"two processes of one zone that do not report count once": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.ProcessGroup("storage-2").FaultDomain = "zone-3"
				f.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeTriple
				inspecttest.Unresponsiveness(f.Snapshot, "storage-2", 0)
				inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 0)
			}, state: StateDegraded, zones: 1,
		},
		"a process that does not report that may hold data counts while it is being removed": {
			given: func(_ *testing.T, f *Facts) {
				inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 0)
				f.Cluster.ProcessGroup("storage-3").MarkForRemoval(noon)
			}, state: StateDegraded, zones: 0,
		},
		"an excluded one does not": {
			given: func(_ *testing.T, f *Facts) {
				inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 0)
				f.Cluster.ProcessGroup("storage-3").MarkForRemoval(noon)
				f.Cluster.ProcessGroup("storage-3").SetExcluded(noon)
			}, state: StateHealthy, zones: 1,
		},
		"one that never reported degrades and costs no tolerance": {
			given: func(_ *testing.T, f *Facts) {
				inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 0)
				f.Cluster.ProcessGroup("storage-3").FaultDomain = ""
			}, state: StateDegraded, zones: 1,
		},
		"a silent stateless process degrades and costs no tolerance": {
			given: func(_ *testing.T, f *Facts) { inspecttest.Unresponsiveness(f.Snapshot, "stateless-1", 0) }, state: StateDegraded, zones: 1,
		},
		"a coordinator that does not answer": {
			given: func(t *testing.T, f *Facts) {
				t.Helper()
				f.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false
			}, state: StateDegraded, zones: 1,
		},
		"a database that reports that it is down, whatever the resource has": {
			given: func(t *testing.T, f *Facts) {
				t.Helper()
				f.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
				f.Cluster.Status.Health.Available = true
			}, state: StateUnavailable, zones: -1,
		},
		"no answer, whatever the record remembers": {
			given: func(_ *testing.T, f *Facts) {
				f.Database = plan.DatabaseFacts{Unreachable: "timed out"}
				f.Cluster.Status.Health.Available = true
			}, state: StateUnknown, zones: -1,
		},
		"no status, and files that prove that the database was never created": {
			given: func(_ *testing.T, f *Facts) { withBlankPods(f) }, state: StateNotConfigured, zones: -1,
		},
		"no status, and files that prove nothing": {
			given: func(_ *testing.T, f *Facts) {
				withBlankPods(f)
				f.Database.DataDirs.Registered = []string{"10.99.0.1:4501"}
			}, state: StateUnknown, zones: -1,
		},
		"a status of one that was never created, and files of a database": {
			given: func(_ *testing.T, f *Facts) {
				withBlankPods(f)
				f.Database.DataDirs.Pods["one"].Data = []string{"/var/fdb/data/1/storage-1.sqlite"}
				f.Database.Status = neverCreated()
			}, state: StateUnknown, zones: -1,
		},
		"a status of one that was never created, and a pod that cannot be read": {
			given: func(_ *testing.T, f *Facts) {
				withBlankPods(f)
				f.Database.DataDirs.Unread = map[string]string{"two": "timed out"}
				f.Database.Status = neverCreated()
			}, state: StateUnknown, zones: -1,
		},
		"a pod that is failing": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.ProcessGroup("log-1").SetCondition(v1beta2.ConditionPodFailing, noon)
			}, state: StateDegraded, zones: 1,
		},
		"a pod that crashes, which no condition has and whose process still reports": {
			given: func(_ *testing.T, f *Facts) {
				c := &f.Pod(f.Cluster.ProcessGroup("log-1")).Status.ContainerStatuses[0]
				c.Ready, c.State.Waiting = false, &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
			}, state: StateDegraded, zones: 1,
		},
		"a process group with an old spec is for reconcile, not for the state": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.ProcessGroup("log-1").SetCondition(v1beta2.ConditionIncorrectPodSpec, noon)
			}, state: StateHealthy, zones: 1,
		},
		"the document does not tell the tolerance": {
			given: func(_ *testing.T, f *Facts) { f.Database.Status.Cluster.FaultTolerance = nil }, state: StateDegraded, zones: -1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(t, &f)
			v := NewStatusView(meta, f)
			zones := -1
			if v.FaultTolerance.Zones != nil {
				zones = *v.FaultTolerance.Zones
			}
			if v.State != tc.state || zones != tc.zones {
				t.Errorf("state %s, %d zones to spare, want %s, %d (%s)", v.State, zones, tc.state, tc.zones, v.Summary)
			}
			if tc.warning != "" && !slices.Contains(v.Warnings, tc.warning) {
				t.Errorf("warnings %q, want %q", v.Warnings, tc.warning)
			}
			if (v.State == StateUnknown || v.State == StateUnavailable) && v.Database.Available != nil && *v.Database.Available {
				t.Error("called available")
			}
		})
	}
}

// withBlankPods has a pod for each coordinator, without a state of a database.
func withBlankPods(f *Facts) {
	const address = "10.0.0.1:4501"
	f.Cluster.Status.ConnectionString, f.Cluster.Status.Configured, f.Volumes = "sample:abc@"+address, false, map[string]*corev1.PersistentVolumeClaim{}
	f.Database = plan.DatabaseFacts{NotQueried: "no status ends", DataDirs: &plan.DataDirs{Pods: map[string]*datadir.Files{"one": {
		Coordination: []datadir.File{{Path: "/var/fdb/data/1/coordination-0.fdq", Blank: true}},
		Servers:      []datadir.Server{{Addresses: []string{address}, Directory: "/var/fdb/data/1"}},
	}}}}
}

// neverCreated is the status of a database that was never created, or whose coordinators lost their files.
func neverCreated() *fdb.Status {
	s := &fdb.Status{}
	s.Client.Coordinators.QuorumReachable = true
	s.Cluster.RecoveryState = &fdb.RecoveryState{Name: fdb.RecoveryNeverCreated}
	return s
}

func TestUnknownIsNullAndNeverZero(t *testing.T) {
	text, err := json.Marshal(NewStatusView(meta, unanswered(t)))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Database       map[string]any `json:"database"`
		FaultTolerance map[string]any `json:"faultTolerance"`
		Coordinators   map[string]any `json:"coordinators"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{
		"available": v.Database["available"], "replicas": v.Database["replicas"], "storedBytes": v.Database["storedBytes"],
		"zones": v.FaultTolerance["zones"], "reachable": v.Coordinators["reachable"],
	}
	want := map[string]any{"available": nil, "replicas": nil, "storedBytes": nil, "zones": nil, "reachable": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A database that returned an incomplete document did answer.
func TestTheStatusSummaryExplainsAMissingStatusDocument(t *testing.T) {
	f := unanswered(t)
	f.Database.Unreachable = "timed out"
	if got, want := NewStatusView(meta, f).Summary, "Unknown: no answer from the database: timed out"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.Database.Unreachable, f.Database.Partial = "the status document is incomplete", inspecttest.Recorded(t, "63-all-logs-down")
	v := NewStatusView(meta, f)
	if want := "Unknown: the status document is incomplete"; v.Summary != want {
		t.Errorf("%s, want %s", v.Summary, want)
	}
	if c := v.Coordinators; c.Source != SourceLive || c.Reachable == nil || *c.Reachable != 3 {
		t.Errorf("the coordinators of an incomplete document: %+v", c)
	}
}

// A node that is cut off from the API server is named as long as its pods run, too.
func TestTheStatusSummaryNamesANodeThatIsNotReadyWhileItsProcessesReport(t *testing.T) {
	f := healthy(t)
	f.Pod(f.Cluster.ProcessGroup("storage-3")).Spec.NodeName = "node-5"
	f.Nodes = map[string]*corev1.Node{"node-5": {ObjectMeta: metav1.ObjectMeta{Name: "node-5"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(noon.Add(-3 * time.Minute))},
	}}}}
	if v := NewStatusView(meta, f); !strings.Contains(v.Summary, "node node-5 is not ready 3m, and its processes report (storage-3, storage-5)") || v.Tone() != list.Warn {
		t.Errorf("tone %d: %s", v.Tone(), v.Summary)
	}
}

// A lost node is one cause, however many process groups were on it.
func TestTheStatusSummaryNamesALostNodeBeforeItsGroups(t *testing.T) {
	place := func(f *Facts, node string, ids ...string) {
		for _, id := range ids {
			f.Pod(f.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id))).Spec.NodeName = node
			inspecttest.Unresponsiveness(f.Snapshot, v1beta2.ProcessGroupID(id), time.Minute)
		}
	}
	notReady := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-5"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(noon.Add(-3 * time.Minute))},
	}}}
	ready := notReady.DeepCopy()
	ready.Status.Conditions[0].Status = corev1.ConditionTrue
	tests := map[string]struct {
		given func(*testing.T, *Facts)
		want  []string
	}{
		"a node that is not ready": {
			given: func(_ *testing.T, f *Facts) {
				place(f, "node-5", "storage-3", "log-2")
				f.Nodes = map[string]*corev1.Node{"node-5": notReady}
			},
			want: []string{"node node-5 is not ready 3m (log-2, storage-3; 1 coordinator)"},
		},
		"a node that no longer exists": {
			given: func(_ *testing.T, f *Facts) {
				place(f, "node-5", "storage-3")
				f.Nodes = map[string]*corev1.Node{"node-5": nil}
			},
			want: []string{"node node-5 no longer exists (storage-3)"},
		},
		"a node that is ready explains nothing": {
			given: func(_ *testing.T, f *Facts) {
				place(f, "node-5", "storage-3")
				f.Nodes = map[string]*corev1.Node{"node-5": ready}
			},
			want: []string{"1 storage group missing, first seen 60s ago (storage-3)"},
		},
		"a node that was not read explains nothing": {
			given: func(_ *testing.T, f *Facts) { place(f, "node-5", "storage-3") },
			want:  []string{"1 storage group missing, first seen 60s ago (storage-3)"},
		},
		"others are named beside it": {
			given: func(_ *testing.T, f *Facts) {
				place(f, "node-5", "storage-3")
				inspecttest.Unresponsiveness(f.Snapshot, "storage-1", time.Minute)
				f.Nodes = map[string]*corev1.Node{"node-5": notReady}
			},
			want: []string{"node node-5 is not ready 3m (storage-3)", "1 storage group missing, first seen 60s ago (storage-1)"},
		},
		"a process that reports was not lost": {
			given: func(_ *testing.T, f *Facts) {
				f.Pod(f.Cluster.ProcessGroup("storage-3")).Spec.NodeName = "node-5"
				f.Nodes = map[string]*corev1.Node{"node-5": notReady}
			},
		},
		"one that leaves is not missed": {
			given: func(_ *testing.T, f *Facts) {
				place(f, "node-5", "storage-3")
				f.Cluster.ProcessGroup("storage-3").MarkForRemoval(noon)
				f.Nodes = map[string]*corev1.Node{"node-5": notReady}
			},
		},
		"without a list of processes all on it may be lost": {
			given: func(t *testing.T, f *Facts) {
				t.Helper()
				f.Database.Status = inspecttest.Recorded(t, "28-quorum-lost")
				f.Pod(f.Cluster.ProcessGroup("storage-3")).Spec.NodeName = "node-5"
				f.Nodes = map[string]*corev1.Node{"node-5": notReady}
			},
			want: []string{"node node-5 is not ready 3m (storage-3, storage-5)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(t, &f)
			if diff := cmp.Diff(tc.want, f.LossReasons(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if v := f.Node("node-5", nil, nil); *v.Exists != (f.Nodes["node-5"] != nil) {
				t.Errorf("exists: %v", *v.Exists)
			}
		})
	}
}
