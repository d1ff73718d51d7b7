package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Shared is the healthy cluster as one of several instances, "east".
func Shared(t *testing.T) Facts {
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
		"held by no owner":         {given: func(f *Facts) { f.Coordination.Lock = nil }, want: LockFree},
		"run out":                  {given: func(f *Facts) { f.Coordination.Lock.End = noon.Add(-time.Second) }, want: LockExpired, mine: &yes},
		"of an owner that is denied": {given: func(f *Facts) {
			f.Coordination.Lock.Owner, f.Coordination.DenyList = "west", []string{"west"}
		}, want: LockOwnerDenied, mine: &no},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := Shared(t)
			tc.given(&f)
			got := f.Lock()
			if diff := cmp.Diff(tc.want, got.State); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.mine, got.Mine); diff != "" {
				t.Error(diff)
			}
		})
	}
}
