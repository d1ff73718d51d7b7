package live_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

var holdIt = plan.HoldLock{Owner: "dc1", User: "ann@a", For: 30 * time.Minute}

// A lock that a user keeps outlasts the run that took it, and no run gets it meanwhile.
func TestAManuallyHeldLockOutlastsTheRunThatTookIt(t *testing.T) {
	f := sharing(t)
	if err := f.cluster.Act(t.Context(), holdIt); err != nil {
		t.Fatal(err)
	}
	if err := f.cluster.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	lock := f.lockIn(fdb.DefaultLockPrefix)
	if now := f.cluster.Clock.Now(); lock == nil || lock.User() != "ann@a" || lock.End.Before(now.Add(29*time.Minute)) {
		t.Fatalf("the lock is %+v, want ann's for half an hour", lock)
	}
	f.begin()
	held, ok := errors.AsType[*reconcile.HeldError](f.cluster.Lock(t.Context()))
	if !ok || held.Holder != "dc1, held manually by ann@a" {
		t.Errorf("a run met %v", held)
	}
	if err := f.cluster.Act(t.Context(), plan.ReleaseLock{Seen: *lock, User: "ann@a"}); err != nil {
		t.Fatal(err)
	}
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Errorf("a run after it was released: %v", err)
	}
}

func TestAManualLockIsRefusedIfTheLockIsHeldOrDenied(t *testing.T) {
	f := sharing(t)
	now := f.cluster.Clock.Now()
	f.put(admin.Set(lockKeys.Lock(), fdb.Lock{Owner: "dc2", Start: now, End: now.Add(time.Minute)}.Encode()))
	if held, ok := errors.AsType[*reconcile.HeldError](f.cluster.Act(t.Context(), holdIt)); !ok || held.Holder != "dc2" {
		t.Errorf("got %v, want held by dc2", held)
	}
	f.put(admin.Clear(lockKeys.Lock()), admin.Set(lockKeys.Denied("dc1"), []byte("dc1")))
	if gate := refusedBy(f.cluster.Act(t.Context(), holdIt)); gate != plan.GateDeny {
		t.Errorf("refused by %q, want %s", gate, plan.GateDeny)
	}
}

func TestALockThatChangedSinceItWasShownIsNotReleased(t *testing.T) {
	f := sharing(t)
	now := f.cluster.Clock.Now()
	shown := fdb.Lock{Owner: "dc2", Start: now.Add(-time.Hour), End: now.Add(-time.Minute)}
	f.put(admin.Set(lockKeys.Lock(), fdb.Lock{Owner: "dc2", Start: shown.Start, End: now.Add(9 * time.Minute)}.Encode())) // it came back
	err := f.cluster.Act(t.Context(), plan.ReleaseLock{Seen: shown, User: "ann@a", Force: true})
	if err == nil || !strings.Contains(err.Error(), "written again since it was shown") || f.lockIn(fdb.DefaultLockPrefix) == nil {
		t.Errorf("got %v; the lock is %+v", err, f.lockIn(fdb.DefaultLockPrefix))
	}
}

func TestReleasingAnotherOwnersExpiredLockRequiresForce(t *testing.T) {
	f := sharing(t)
	now := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	over := fdb.Lock{Owner: "dc2", Start: now.Add(-time.Hour), End: now.Add(-time.Minute)}
	f.put(admin.Set(lockKeys.Lock(), over.Encode()))
	if err := f.cluster.Act(t.Context(), plan.ReleaseLock{Seen: over, User: "ann@a"}); err == nil || !strings.Contains(err.Error(), "--force is required to clear it: the database lock is held by dc2") {
		t.Errorf("got %v", err)
	}
	if err := f.cluster.Act(t.Context(), plan.ReleaseLock{Seen: over, User: "ann@a", Force: true}); err != nil || f.lockIn(fdb.DefaultLockPrefix) != nil {
		t.Errorf("by force %v", err)
	}
}
