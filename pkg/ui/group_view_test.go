package ui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// busy is a cluster in which a bit of everything is going on.
func busy(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Database.Status = inspecttest.Recorded(t, "12-exclude-in-progress-1")
	f.Cluster.ProcessGroup("storage-5").MarkForRemoval(noon.Add(-41 * time.Minute))
	inspecttest.Silence(f.Snapshot, "storage-3", 12*time.Minute)
	f.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-14*time.Minute))
	f.Cluster.ProcessGroup("log-4").MarkForRemoval(noon.Add(-time.Hour))
	f.Pods["sample-stateless-2"].Status.Phase = corev1.PodPending
	delete(f.Pods, "sample-stateless-3")
	return f
}

func TestGroupTable(t *testing.T) {
	tests := map[string]ListOptions{"table": {}, "wide": {Wide: true}, "no-headers": {NoHeaders: true}, "absolute": {Absolute: true}}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			o.Now = noon
			var b bytes.Buffer
			if err := WriteGroups(&b, NewGroupListView(meta, busy(t)), o); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestGroupsWithoutAnAnswerFromTheDatabase(t *testing.T) {
	v := NewGroupListView(meta, unanswered(t))
	var b bytes.Buffer
	if err := WriteGroups(&b, v, ListOptions{Now: noon}); err != nil {
		t.Fatal(err)
	}
	if len(v.Warnings) != 1 || v.Source != SourceRecord {
		t.Errorf("source %s, warnings %q", v.Source, v.Warnings)
	}
	golden.RequireEqual(t, b.Bytes())
}

// What is not listed is not absent: a database without a quorum says nothing of anybody.
func TestADatabaseThatListsNoProcessesSaysNothingOfThem(t *testing.T) {
	f := withoutQuorum(t)
	status := NewStatusView(meta, f)
	if text := status.Summary; strings.Contains(text, "missing") || status.Database.ProcessesReported != nil || len(status.FaultTolerance.ZonesNotReporting) > 0 {
		t.Errorf("%s, %v report, silent are %v", text, status.Database.ProcessesReported, status.FaultTolerance.ZonesNotReporting)
	}
	if c := status.ProcessGroups.Classes[0]; c.Reporting != nil {
		t.Errorf("%d of class %s report", *c.Reporting, c.Class)
	}
	groups := NewGroupListView(meta, f)
	// The client still knows which coordinators it asked; of everything else Coordinator stays null.
	for _, g := range groups.Items {
		isOne := slices.ContainsFunc(f.coordinators().Items, func(c CoordinatorView) bool { return f.coordinator(c).Group == g.ID })
		if ptr.Deref(g.Coordinator, false) != isOne || (g.Coordinator != nil) != isOne {
			t.Errorf("%s: coordinator %v, want %t", g.ID, g.Coordinator, isOne)
		}
	}
	if g := groups.Items[0]; g.Processes != nil || g.Roles != nil || g.Exclusion != ExclusionUnknown || g.Excluded() || len(groups.Warnings) != 1 {
		t.Errorf("%+v with warnings %q", g, groups.Warnings)
	}
	if servers := NewClusterVersion(f.Cluster).Observed(f).Processes; servers != nil {
		t.Errorf("its servers run %v", servers)
	}
	if zone := NotMaintained(f); zone.Reached {
		t.Error("no zone is under maintenance, says nobody")
	}
	if included := Inclusions(f, []v1beta2.ProcessGroupID{"storage-1"}, nil); included[0].Reached {
		t.Error("storage-1 is not excluded, says nobody")
	}
}

func TestExclusionIsSafeOnlyWhereItWasProven(t *testing.T) {
	tests := map[string]struct {
		given func(Facts, *v1beta2.ProcessGroupStatus)
		want  Exclusion
	}{
		"nobody asked":             {given: func(Facts, *v1beta2.ProcessGroupStatus) {}, want: NotExcluded},
		"marked, not yet excluded": {given: func(_ Facts, g *v1beta2.ProcessGroupStatus) { g.MarkForRemoval(noon) }, want: ExclusionPending},
		"excluded by locality, still a storage server": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
			}, want: ExclusionMoving,
		},
		"excluded by address, still a storage server": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Address: g.Addresses[0]})
			}, want: ExclusionMoving,
		},
		"excluded and silent proves nothing": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
				inspecttest.Silence(f.Snapshot, g.ProcessGroupID, 0)
			}, want: ExclusionUnverified,
		},
		"excluded while old log generations are left": {
			given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
				inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
				inspecttest.Silence(f.Snapshot, g.ProcessGroupID, 0)
				f.Database.Status.Cluster.Logs = append(f.Database.Status.Cluster.Logs, fdb.LogGeneration{})
			}, want: ExclusionRequested,
		},
		"not told by anybody": {given: func(f Facts, _ *v1beta2.ProcessGroupStatus) { f.Database.Status.Cluster.Processes = nil }, want: ExclusionUnknown},
		"proven by a pass, before a recovery": {given: func(f Facts, g *v1beta2.ProcessGroupStatus) {
			g.SetExcluded(noon)
			inspecttest.Drain(f.Snapshot, "storage-1")
			f.Database.Status.Cluster.Logs = append(f.Database.Status.Cluster.Logs, fdb.LogGeneration{})
		}, want: ExclusionRequested},
		"proven by a pass, and included since": {given: func(_ Facts, g *v1beta2.ProcessGroupStatus) {
			g.MarkForRemoval(noon)
			g.SetExcluded(noon)
		}, want: ExclusionPending},
		"removed without": {given: func(_ Facts, g *v1beta2.ProcessGroupStatus) { g.ExclusionSkipped = true }, want: ExclusionSkipped},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			g := f.Cluster.ProcessGroup("storage-1")
			f.Coordination.ExclusionsRead = tc.want != ExclusionUnknown
			tc.given(f, g)
			if got := f.exclusion(g); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			for _, row := range f.drains(g, true, &DrainHistory{}) {
				if row.State != tc.want {
					t.Errorf("exclusion status has %s, get process-groups %s", row.State, tc.want)
				}
			}
		})
	}
}

// To judge anew tells that something is so, and not since when.
func TestSinceWhenIsWhatAPassRecorded(t *testing.T) {
	tests := map[string]struct {
		recorded, now time.Duration
		want          *time.Time
	}{
		"recorded an hour ago":                {time.Hour, time.Hour, new(noon.Add(-time.Hour))},
		"recorded by the pass of this moment": {time.Nanosecond, 0, new(noon)},
		"seen now, and recorded by nobody":    {0, 0, nil},
		"not recorded, and seen before by us": {0, time.Minute, new(noon.Add(-time.Minute))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Recorded = f.Cluster.DeepCopy()
			if tc.recorded > 0 {
				f.Recorded.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-tc.recorded.Truncate(time.Second)))
			}
			g := f.Cluster.ProcessGroup("storage-3")
			g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-tc.now))
			v := f.conditionsOf(g)[0]
			if diff := cmp.Diff(tc.want, v.Since); diff != "" {
				t.Error(diff)
			}
			if cell := (GroupView{Conditions: []ConditionView{v}}).conditionsCell(ListOptions{Now: noon}); tc.want == nil && cell != "PodFailing(?)" {
				t.Errorf("got %s", cell)
			}
		})
	}
}
