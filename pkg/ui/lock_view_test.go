package ui

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// shared is the healthy cluster as one of several instances, "east".
func shared(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Cluster.Spec.ProcessGroupIDPrefix = "east"
	f.Cluster.Spec.LockOptions.DisableLocks = new(false)
	f.Coordination = plan.CoordinationFacts{
		Read: true, Lock: &fdb.Lock{Owner: "east", Start: noon.Add(-4 * time.Minute), End: noon.Add(6 * time.Minute)},
	}
	return f
}

func TestStatesOfALock(t *testing.T) {
	yes, no := true, false
	tests := map[string]struct {
		given func(*Facts)
		want  LockState
		mine  *bool
	}{
		"held by this instance":    {given: func(*Facts) {}, want: LockHeld, mine: &yes},
		"held by another":          {given: func(f *Facts) { f.Coordination.Lock.Owner = "west" }, want: LockHeld, mine: &no},
		"held by one without name": {given: func(f *Facts) { f.Coordination.Lock.Owner = ""; f.Cluster.Spec.ProcessGroupIDPrefix = "" }, want: LockHeld},
		"nobody's":                 {given: func(f *Facts) { f.Coordination.Lock = nil }, want: LockFree},
		"run out":                  {given: func(f *Facts) { f.Coordination.Lock.End = noon.Add(-time.Second) }, want: LockExpired, mine: &yes},
		"of an owner that is denied": {given: func(f *Facts) {
			f.Coordination.Lock.Owner, f.Coordination.DenyList = "west", []string{"west"}
		}, want: LockOwnerDenied, mine: &no},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := shared(t)
			tc.given(&f)
			got := f.lock()
			if diff := cmp.Diff(tc.want, got.State); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.mine, got.Mine); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLockTables(t *testing.T) {
	f := shared(t)
	f.Coordination.DenyList = []string{"west", "north", "south"}
	f.Cluster.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "north"}, {ID: "south", Allow: true}, {ID: "old"}, {ID: "back", Allow: true}}
	f.Coordination.Announced = map[string][]v1beta2.ProcessGroupID{"7.4.6": {"west-storage-1", "east-storage-1"}, "7.10.0": {"east-log-1"}}
	f.Coordination.Lists = plan.ListFacts{Read: true, Entries: map[fdb.SharedList]map[fdb.Member]time.Time{
		fdb.PendingForRestart: {{Instance: "west", Group: "west-storage-1"}: noon.Add(-time.Minute)},
		fdb.ReadyForRestart:   {{Instance: "", Group: "storage-9"}: noon.Add(-time.Hour)},
	}}
	f.Lease = Lease{Read: true, Holder: "alice@laptop pid 7", Until: noon.Add(30 * time.Second)}
	for name, o := range map[string]ListOptions{"table": {}, "wide": {Wide: true}, "no-headers": {NoHeaders: true}, "absolute": {Absolute: true}} {
		t.Run(name, func(t *testing.T) {
			o.Now = noon
			var b bytes.Buffer
			if err := WriteLocks(&b, NewLockListView(meta, f), o); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
	t.Run("free and unused", func(t *testing.T) {
		f := healthy(t)
		f.Coordination.Read, f.Lease = true, Lease{}
		var b bytes.Buffer
		if err := WriteLocks(&b, NewLockListView(meta, f), ListOptions{Now: noon}); err != nil {
			t.Fatal(err)
		}
		golden.RequireEqual(t, b.Bytes())
	})
}
