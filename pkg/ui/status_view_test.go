package ui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func screen(t *testing.T, f Facts, o StatusOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	o.Now = noon
	if err := WriteStatus(&b, NewStatusView(meta, f), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestScreens(t *testing.T) {
	tests := map[string]struct {
		facts func(*testing.T) Facts
		o     StatusOptions
	}{
		"healthy": {facts: healthy},
		"healthy, wide and absolute": {
			facts: healthy,
			o:     StatusOptions{Wide: true, Absolute: true},
		},
		"a storage process died and the database has not noticed": {facts: func(t *testing.T) Facts {
			t.Helper()
			f := healthy(t)
			inspecttest.Silence(f.Snapshot, "storage-3", 20*time.Second)
			f.Gaps.ReconciledProcessGroups = 11
			f.Gaps.Reasons = []string{"process group storage-3 has condition MissingProcesses", "11 of 12 process groups are as desired"}
			return f
		}},
		"all logs are down": {facts: func(t *testing.T) Facts {
			t.Helper()
			f := healthy(t)
			f.Database.Status = inspecttest.Recorded(t, "63-all-logs-down")
			return f
		}},
		"no answer": {facts: unanswered},
		"a quorum is lost and nobody tells who reports": {facts: withoutQuorum},
		"never created": {facts: func(t *testing.T) Facts {
			t.Helper()
			f := healthy(t)
			f.Cluster.Status = v1beta2.FoundationDBClusterStatus{}
			f.Cluster.ManagedFields = nil
			f.Database = plan.DatabaseFacts{NotAsked: "there is no cluster file yet"}
			f.Gaps = v1beta2.Gaps{Reasons: []string{"the database was never configured"}}
			return f
		}},
		"held, locked and in maintenance": {facts: func(t *testing.T) Facts {
			t.Helper()
			f := healthy(t)
			f.Lease = Lease{Read: true, Holder: "alice@laptop pid 7 (rack 12)", Until: noon.Add(40 * time.Second)}
			f.Cluster.Spec.LockOptions.DisableLocks = new(bool)
			f.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
			f.Coordination = plan.CoordinationFacts{
				Read: true, Lock: &fdb.Lock{Owner: "dc2", Start: noon.Add(-time.Minute), End: noon.Add(9 * time.Minute)}, DenyList: []string{"dc3"},
			}
			f.Database.Status = inspecttest.Recorded(t, "30-maintenance-on")
			f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "0011aabb"}
			return f
		}},
	}
	for name, tc := range tests {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			golden.RequireEqual(t, screen(t, tc.facts(t), tc.o))
		})
	}
}

func TestStateAndExitWorthyFacts(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T, *Facts)
		state State
		zones int // -1 for unknown
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
		"a silent storage process counts at once, though the database reports full tolerance": {
			given: func(_ *testing.T, f *Facts) { inspecttest.Silence(f.Snapshot, "storage-3", time.Second) }, state: StateDegraded, zones: 0,
		},
		"two silent processes of one zone count once": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.ProcessGroup("storage-2").FaultDomain = "zone-3"
				f.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeTriple
				inspecttest.Silence(f.Snapshot, "storage-2", 0)
				inspecttest.Silence(f.Snapshot, "storage-3", 0)
			}, state: StateDegraded, zones: 1,
		},
		"a silent process that may hold data counts while it is being removed": {
			given: func(_ *testing.T, f *Facts) {
				inspecttest.Silence(f.Snapshot, "storage-3", 0)
				f.Cluster.ProcessGroup("storage-3").MarkForRemoval(noon)
			}, state: StateDegraded, zones: 0,
		},
		"an excluded one does not": {
			given: func(_ *testing.T, f *Facts) {
				inspecttest.Silence(f.Snapshot, "storage-3", 0)
				f.Cluster.ProcessGroup("storage-3").MarkForRemoval(noon)
				f.Cluster.ProcessGroup("storage-3").SetExcluded(noon)
			}, state: StateHealthy, zones: 1,
		},
		"one that never reported degrades and costs no tolerance": {
			given: func(_ *testing.T, f *Facts) {
				inspecttest.Silence(f.Snapshot, "storage-3", 0)
				f.Cluster.ProcessGroup("storage-3").FaultDomain = ""
			}, state: StateDegraded, zones: 1,
		},
		"a silent stateless process degrades and costs no tolerance": {
			given: func(_ *testing.T, f *Facts) { inspecttest.Silence(f.Snapshot, "stateless-1", 0) }, state: StateDegraded, zones: 1,
		},
		"a coordinator that does not answer": {
			given: func(t *testing.T, f *Facts) {
				t.Helper()
				f.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false
			}, state: StateDegraded, zones: 1,
		},
		"a database that says it is down, whatever the record remembers": {
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
		"a pod that is failing": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.ProcessGroup("log-1").SetCondition(v1beta2.ConditionPodFailing, noon)
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
			if (v.State == StateUnknown || v.State == StateUnavailable) && v.Database.Available != nil && *v.Database.Available {
				t.Error("called available")
			}
		})
	}
}

func TestStatusJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteIndentedJSON(&b, NewStatusView(meta, healthy(t))); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, b.Bytes())
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

func TestStatusList(t *testing.T) {
	degraded := healthy(t)
	inspecttest.Silence(degraded.Snapshot, "storage-3", time.Minute)
	degraded.Cluster.ProcessGroup("storage-3").RemovalTimestamp = &metav1.Time{Time: noon}
	views := []StatusView{NewStatusView(meta, healthy(t)), NewStatusView(meta, degraded), NewStatusView(meta, unanswered(t))}
	for _, o := range []ListOptions{{Now: noon}, {Now: noon, Wide: true, Absolute: true}, {Now: noon, NoHeaders: true}} {
		var b bytes.Buffer
		if err := WriteStatusList(&b, NewStatusListView(meta, noon, views), o); err != nil {
			t.Fatal(err)
		}
		name := map[ListOptions]string{{Now: noon}: "table", {Now: noon, NoHeaders: true}: "no headers"}[o]
		if name == "" {
			name = "wide"
		}
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, b.Bytes()) })
	}
}

func TestThatTheDatabaseDoesNotAnswerIsSaidOnce(t *testing.T) {
	for why, want := range map[string]string{
		"timed out": "Unknown: no answer from the database: timed out",
		"no answer from the database for 5s, still asking": "Unknown: no answer from the database for 5s, still asking",
	} {
		f := unanswered(t)
		f.Database.Unreachable = why
		if got := NewStatusView(meta, f).Summary; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTheHeadlineNamesTheZoneUnderMaintenance(t *testing.T) {
	tests := map[string]struct {
		silent []string
		zone   string
		want   string
	}{
		"all that are missing are in it": {[]string{"storage-3"}, "zone-a", "1 storage group missing (storage-3), in zone zone-a, which is under maintenance"},
		"some are":                       {[]string{"storage-2", "storage-3"}, "zone-a", "(storage-2, storage-3), storage-3 of them in zone zone-a, which is under maintenance"},
		"none is":                        {[]string{"storage-2"}, "zone-a", "1 storage group missing (storage-2);"},
		"no zone is under maintenance":   {[]string{"storage-3"}, "", "1 storage group missing (storage-3);"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Cluster.ProcessGroup("storage-3").FaultDomain = "zone-a"
			f.Database.Status.Cluster.MaintenanceZone = tc.zone
			for _, id := range tc.silent {
				inspecttest.Silence(f.Snapshot, v1beta2.ProcessGroupID(id), 0)
			}
			if got := NewStatusView(meta, f.withoutAges()).Summary; !strings.Contains(got+";", tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
