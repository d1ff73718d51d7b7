package live_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// sharing is a settled cluster whose spec has locks under the name dc1, with its Lease taken.
func sharing(t *testing.T) *field {
	t.Helper()
	f := settled(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.LockOptions.DisableLocks = new(bool)
		s.ProcessGroupIDPrefix = "dc1"
	})
	f.begin()
	f.log.reset()
	return f
}

var lockKeys = fdb.LockKeys{Prefix: fdb.DefaultLockPrefix}

// refusedBy returns the gate that an error names, or an empty one.
func refusedBy(err error) plan.Gate {
	if refused, ok := errors.AsType[*reconcile.RefusedError](err); ok {
		return refused.Check.Gate
	}
	return ""
}

func TestTheLockIsTakenAndReleased(t *testing.T) {
	f := sharing(t)
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := f.cluster.Clock.Now()
	lock := f.lockIn(fdb.DefaultLockPrefix)
	if lock == nil || lock.Owner != "dc1" || lock.Nonce == "" || lock.End.Before(now.Add(9*time.Minute)) || lock.End.After(now.Add(10*time.Minute)) {
		t.Fatalf("the lock is %+v, want dc1's for 10 minutes from %s", lock, now)
	}
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := f.lockIn(fdb.DefaultLockPrefix); again.Nonce == lock.Nonce || !again.Start.Equal(lock.Start) {
		t.Errorf("taken again the lock is %+v, want a new nonce and the old start", again)
	}
	if err := f.cluster.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := f.lockIn(fdb.DefaultLockPrefix); left != nil {
		t.Errorf("left the lock %+v", left)
	}
	if got := f.lease(); got.HolderIdentity != nil {
		t.Errorf("left the Lease to %s", *got.HolderIdentity)
	}
}

func TestNoLockIsTakenIfDisabledUnsharedOrUnconfigured(t *testing.T) {
	yes := true
	tests := map[string]func(*field){
		"not when the spec disables it": func(f *field) {
			f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.LockOptions.DisableLocks = &yes })
		},
		"not when no other holder can be expected": func(f *field) {
			f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.LockOptions.DisableLocks = nil })
		},
		"not before there is a database": func(f *field) {
			f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.Configured = false })
		},
	}
	for name, given := range tests {
		t.Run(name, func(t *testing.T) {
			f := sharing(t)
			given(f)
			f.observe(plan.ClusterResource)
			if err := f.cluster.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if lock := f.lockIn(fdb.DefaultLockPrefix); lock != nil {
				t.Errorf("took the lock %+v", lock)
			}
		})
	}
}

func TestTheLockIsTakenForSeveralZonesAndThreeDataHall(t *testing.T) {
	tests := map[string]func(*v1beta2.FoundationDBClusterSpec){
		"several zones": func(s *v1beta2.FoundationDBClusterSpec) {
			s.FaultDomain.ZoneCount, s.FaultDomain.Key, s.FaultDomain.Value = 3, "foundationdb.org/kubernetes-cluster", "a"
		},
		"three data halls": func(s *v1beta2.FoundationDBClusterSpec) {
			s.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			f := sharing(t)
			f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.LockOptions.DisableLocks = nil; edit(s) })
			f.observe(plan.ClusterResource)
			if err := f.cluster.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if f.lockIn(fdb.DefaultLockPrefix) == nil {
				t.Error("took no lock")
			}
		})
	}
}

func TestARefusedLockNamesItsGateOrHolder(t *testing.T) {
	held := func(owner string, ends time.Duration) func(*field) {
		return func(f *field) {
			now := f.cluster.Clock.Now()
			f.put(admin.Set(lockKeys.Lock(), fdb.Lock{Owner: owner, Start: now.Add(-time.Minute), End: now.Add(ends)}.Encode()))
		}
	}
	tests := map[string]struct {
		given  func(*field)
		gate   plan.Gate
		holder string
	}{
		"to an owner without a name": {
			given: func(f *field) {
				f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = "" })
				f.observe(plan.ClusterResource)
			}, gate: plan.GateLockOwner,
		},
		"to an owner on the deny list":  {given: func(f *field) { f.put(admin.Set(lockKeys.Denied("dc1"), []byte("dc1"))) }, gate: plan.GateDeny},
		"while another instance has it": {given: held("dc2", time.Minute), holder: "dc2"},
		"while a restore has the database locked": {
			given: func(f *field) { f.put(admin.Set(admin.DatabaseLockedKey, []byte("0123456789abcdef0123456789abcdef"))) }, gate: plan.GateDBLock,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := sharing(t)
			tc.given(f)
			err := f.cluster.Lock(t.Context())
			if err == nil {
				t.Fatal("the lock was given")
			}
			if got := refusedBy(err); got != tc.gate {
				t.Errorf("refused by %q with %v, want %q", got, err, tc.gate)
			}
			if tc.holder != "" {
				other, ok := errors.AsType[*reconcile.HeldError](err)
				if !ok || other.Holder != tc.holder || other.Until.IsZero() {
					t.Errorf("got %v, want held by %s until a time", err, tc.holder)
				}
			}
			if err := f.cluster.End(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTakingAnExpiredLockResetsItsStartTime(t *testing.T) {
	f := sharing(t)
	start := f.cluster.Clock.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	before := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	f.put(admin.Set(lockKeys.Lock(), fdb.Lock{Owner: "dc2", Start: start, End: start.Add(time.Minute)}.Encode()))
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lock := f.lockIn(fdb.DefaultLockPrefix); lock.Owner != "dc1" || lock.Start.Before(before) {
		t.Errorf("the lock is %+v, want dc1's since %s", lock, before)
	}
}

func TestALockWrittenByAnotherClientIsNotReleased(t *testing.T) {
	f := sharing(t)
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := f.cluster.Clock.Now()
	f.put(admin.Set(lockKeys.Lock(), fdb.Lock{Owner: "dc1", Start: now, End: now.Add(time.Minute)}.Encode())) // the operator extends without a nonce
	if err := f.cluster.End(t.Context()); err != nil {
		t.Error(err)
	}
	if f.lockIn(fdb.DefaultLockPrefix) == nil {
		t.Error("cleared a lock that another user wrote")
	}
}

func TestAFailedLockReleaseIsReportedAndTheLeaseIsReleased(t *testing.T) {
	f := sharing(t)
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.cluster.Transport = func(*corev1.Pod) admin.Transport { return lostSessions{} }
	if err := f.cluster.End(t.Context()); err == nil || !strings.Contains(err.Error(), "expires by itself") {
		t.Errorf("got %v, want that the lock expires by itself", err)
	}
	if got := f.lease(); got.HolderIdentity != nil {
		t.Errorf("left the Lease to %s", *got.HolderIdentity)
	}
}

func TestLocksAndDenyListAreObserved(t *testing.T) {
	f := sharing(t)
	f.put(admin.Set(lockKeys.Denied("dc3"), []byte("dc3")))
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := f.observe(plan.Everything)
	if !s.Coordination.Read || s.Coordination.Lock == nil || s.Coordination.Lock.Owner != "dc1" || len(s.Coordination.DenyList) != 1 {
		t.Errorf("observed %+v", s.Coordination)
	}
}

// The whole way: a configuration is changed under the lock, and the lock is free after it.
func TestAConfigurationIsChangedUnderTheLock(t *testing.T) {
	f := settled(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.LockOptions.DisableLocks = new(bool)
		s.DatabaseConfiguration.Resolvers = 2
	})
	f.nodes.Tick(2 * time.Minute)
	done := f.pass()
	if got := refusedBy(errors.Join(done.Failures...)); got != plan.GateLockOwner || done.Outcome != reconcile.Blocked {
		t.Errorf("without an owner the pass ends %s by %q: %v", done.Outcome, got, done.Failures)
	}
	if sent := configurations(f); len(sent) > 0 {
		t.Errorf("sent %v without the lock", sent)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = "dc1" })
	done = f.pass()
	if sent := configurations(f); len(sent) != 1 || len(done.Failures) > 0 {
		t.Errorf("sent %v, met %v, want one configure", sent, done.Failures)
	}
	if got := f.lease(); got.HolderIdentity != nil {
		t.Errorf("left the Lease to %s", *got.HolderIdentity)
	}
	if lock := f.lockIn(fdb.DefaultLockPrefix); lock != nil {
		t.Errorf("left the lock %+v", lock)
	}
}

func configurations(f *field) []string {
	return slices.DeleteFunc(f.log.those("exec"), func(request string) bool { return !strings.Contains(request, "configure") })
}

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
