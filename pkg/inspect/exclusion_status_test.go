package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Excluded is the healthy cluster while storage-1 is excluded, by its ID.
func Excluded(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	g := f.Cluster.ProcessGroup("storage-1")
	g.MarkForRemoval(noon.Add(-time.Hour))
	inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
	f.Coordination = plan.CoordinationFacts{ExclusionsRead: true, Exclusions: []string{g.ExclusionString()}}
	return f
}

// emptied takes the roles off a group's processes, and marks them as excluded.

func TestExclusionIsReportedSafeOnlyIfProven(t *testing.T) {
	tests := map[string]struct {
		given  func(*Facts)
		want   Exclusion
		reason string
	}{
		"it still is a storage server":     {given: func(*Facts) {}, want: ExclusionMoving, reason: "its process at 127.0.2.1:4501 is not excluded"},
		"nothing of the database is on it": {given: func(f *Facts) { inspecttest.Drain(f.Snapshot, "storage-1") }, want: ExclusionSafe},
		"its exclusion is in progress": {given: func(f *Facts) {
			inspecttest.Drain(f.Snapshot, "storage-1")
			f.Coordination.InProgressExclusions = []string{"127.0.2.1:4501"}
		}, want: ExclusionMoving, reason: "its exclusion is in progress"},
		"a log at an unknown address may be its": {given: func(f *Facts) {
			inspecttest.Drain(f.Snapshot, "storage-1")
			f.Coordination.InProgressExclusions = []string{fdb.UnknownLogAddress}
		}, want: ExclusionUnverified, reason: "an exclusion of a log at an unknown address is in progress, and could be its own"},
		"an old generation of logs is left": {given: func(f *Facts) {
			inspecttest.Drain(f.Snapshot, "storage-1")
			f.Database.Status.Cluster.Logs = append(f.Database.Status.Cluster.Logs, fdb.LogGeneration{})
		}, want: ExclusionRequested, reason: "roles are unknown before the last recovery is over: its state is fully_recovered with 2 generations of logs"},
		"exclusions could not be read": {given: func(f *Facts) { inspecttest.Drain(f.Snapshot, "storage-1"); f.Coordination = plan.CoordinationFacts{} }, want: ExclusionRequested, reason: "exclusions in progress are unknown"},
		"it died this minute": {
			given: func(f *Facts) { inspecttest.Unresponsiveness(f.Snapshot, "storage-1", 10*time.Second) }, want: ExclusionUnverified,
			reason: "it stopped reporting 9s ago, and the database notices a loss only after 1m30s",
		},
		"a user ended the exclusion": {given: func(f *Facts) {
			inspecttest.Drain(f.Snapshot, "storage-1")
			f.Coordination.Exclusions = []string{"locality_instance_id:another"}
		}, want: ExclusionUnverified, reason: "the exclusion was ended, although the status document still shows it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := Excluded(t)
			tc.given(&f)
			v := NewExclusionStatusView(meta, f, ExclusionQuestion{}, &DrainHistory{})
			if len(v.Items) == 0 {
				t.Fatal("no row")
			}
			if diff := cmp.Diff([]string{string(tc.want), tc.reason}, []string{string(v.Items[0].State), v.Items[0].Reason}); diff != "" {
				t.Error(diff)
			}
			if v.Safe != nil && *v.Safe != (tc.want == ExclusionSafe) {
				t.Errorf("safe: %t", *v.Safe)
			}
		})
	}
}

func TestANamedGroupThatIsNotExcludedIsNotReportedAsSafe(t *testing.T) {
	f := healthy(t)
	f.Coordination.ExclusionsRead = true
	only := func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessGroupID == "storage-2" }
	v := NewExclusionStatusView(meta, f, ExclusionQuestion{Keep: only, Named: true}, &DrainHistory{})
	if v.Safe == nil || *v.Safe || len(v.Items) != 1 || v.Items[0].State != NotExcluded {
		t.Errorf("%+v", v)
	}
	v = NewExclusionStatusView(meta, f, ExclusionQuestion{Keep: only}, &DrainHistory{})
	if v.Safe == nil || !*v.Safe || len(v.Items) != 0 {
		t.Errorf("%+v", v)
	}
}

func TestExclusionProgressIsUnknownWithoutTheDatabase(t *testing.T) {
	f := unanswered(t)
	f.Cluster.ProcessGroup("storage-1").MarkForRemoval(noon.Add(-time.Hour))
	f.Cluster.ProcessGroup("storage-2").SetExcluded(noon.Add(-time.Hour))
	v := NewExclusionStatusView(meta, f, ExclusionQuestion{}, &DrainHistory{})
	if v.Safe != nil || v.Others != nil || len(v.Items) != 2 {
		t.Errorf("%+v", v)
	}
	for _, d := range v.Items {
		if d.State != ExclusionUnverified || d.Roles != nil || d.LeftBytes != nil {
			t.Errorf("%+v", d)
		}
	}
}

// Hold has a group's storage servers hold so many bytes.
func (f Facts) Hold(id string, n int64) {
	for key, p := range f.Database.Status.Cluster.Processes {
		if p.InstanceID() != id {
			continue
		}
		for i := range p.Roles {
			if p.Roles[i].Role == fdb.RoleStorage {
				p.Roles[i].StoredBytes = &n
			}
		}
		f.Database.Status.Cluster.Processes[key] = p
	}
}

// What is unknown is not nothing.
func TestExclusionSummaryReportsTheRemainingData(t *testing.T) {
	store := func(left int64) DrainView {
		return DrainView{State: ExclusionMoving, Roles: []string{fdb.RoleStorage}, LeftBytes: &left}
	}
	unresponsive, log := DrainView{State: ExclusionUnverified}, DrainView{State: ExclusionMoving, Roles: []string{fdb.RoleLog}}
	safe := DrainView{State: ExclusionSafe}
	tests := map[string]struct {
		items []DrainView
		want  string
	}{
		"nothing":                     {want: "no exclusions, and none pending"},
		"one that is safe":            {items: []DrainView{safe}, want: "1 of 1 is safe: the database does not depend on it"},
		"several that are safe":       {items: []DrainView{safe, safe}, want: "all 2 are safe: the database does not depend on them"},
		"one of two":                  {items: []DrainView{safe, store(4 << 10)}, want: "1 of 2 is not safe to remove; 4.0KiB left on it"},
		"a log, which stores nothing": {items: []DrainView{log, store(4 << 10)}, want: "2 of 2 are not safe to remove; 4.0KiB left on them"},
		"one that does not report":    {items: []DrainView{unresponsive}, want: "1 of 1 is not safe to remove; an unknown amount is left on it"},
		"one of them does not report": {items: []DrainView{unresponsive, store(4 << 10)}, want: "2 of 2 are not safe to remove; at least 4.0KiB left on them"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Coordination.ExclusionsRead = true
			if _, got := f.drainVerdict(tc.items); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
