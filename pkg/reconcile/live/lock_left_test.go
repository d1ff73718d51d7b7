package live_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// anotherRun is a process of the same instance that knows of the first one only what it left.
func (f *field) anotherRun() {
	f.t.Helper()
	w := f.cluster
	f.cluster = live.New(live.Options{
		Client: w.Client, Config: w.Config, Key: w.Key, Holder: "ann@laptop process 8",
		Clock: w.Clock, Nonce: w.Nonce, Transport: w.Transport, Overrides: w.Overrides,
	})
	f.begin()
}

// locksAndEnds is a run that has the lock for something that takes nothing down.
func (f *field) locksAndEnds() {
	f.t.Helper()
	if err := f.cluster.Lock(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	if err := f.cluster.End(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func TestTheNextRunDoesNotExtendOrReleaseALockDuringItsCooldown(t *testing.T) {
	f := sharing(t)
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	pod := plan.PodOfGroup{Group: "storage-1", Name: "absent"}
	if err := f.cluster.Act(t.Context(), plan.DeletePods{Pods: []plan.PodOfGroup{pod}, Shared: true}); err != nil {
		t.Fatal(err)
	}
	if err := f.cluster.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := f.lockIn(fdb.DefaultLockPrefix)
	for range 2 { // and neither the one after it extends it
		f.tick(10 * time.Second)
		f.anotherRun()
		f.locksAndEnds()
		if got := f.lockIn(fdb.DefaultLockPrefix); got == nil || !got.End.Equal(left.End) {
			t.Fatalf("the next run left the lock %+v, want it until %s as before", got, left.End)
		}
	}
	f.tick(fdb.DeathNoticedAfter)
	f.anotherRun()
	f.locksAndEnds()
	if got := f.lockIn(fdb.DefaultLockPrefix); got != nil {
		t.Errorf("left the lock %+v after all that was taken down shows", got)
	}
}

func TestALockLeftByAKilledRunIsHeldUntilProcessDeathsAreVisible(t *testing.T) {
	f := sharing(t)
	now := f.cluster.Clock.Now()
	f.put(admin.Set(lockKeys.Lock(), fdb.Lock{Owner: "dc1", Start: now, End: now.Add(9 * time.Minute), Nonce: "of the dead"}.Encode()))
	f.locksAndEnds()
	got := f.lockIn(fdb.DefaultLockPrefix)
	if got == nil || (got.End.Sub(now)-fdb.DeathNoticedAfter).Abs() > 5*time.Second {
		t.Errorf("left the lock %+v, want it for %s from %s", got, fdb.DeathNoticedAfter, now)
	}
}
