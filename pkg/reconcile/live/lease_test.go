package live_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

var leaseKey = types.NamespacedName{Namespace: key.Namespace, Name: live.LeaseName(key.Name)}

// leaseOf is a Lease of a holder that was renewed a while ago.
func leaseOf(holder string, ago time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: leaseKey.Namespace, Name: leaseKey.Name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(holder), LeaseDurationSeconds: ptr.To[int32](60),
			RenewTime: new(metav1.NewMicroTime(sim.Noon.Add(-ago))), LeaseTransitions: ptr.To[int32](3),
		},
	}
}

func (f *field) lease() coordinationv1.LeaseSpec {
	f.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := f.api.Get(f.t.Context(), leaseKey, lease); err != nil {
		f.t.Fatal(err)
	}
	return lease.Spec
}

// atNoon is a field whose clock moves only when a test moves it.
func atNoon(t *testing.T, leases ...*coordinationv1.Lease) (*field, *clocktesting.FakeClock) {
	t.Helper()
	f := newField(t, sample())
	for _, l := range leases {
		if err := f.api.Create(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	clock := clocktesting.NewFakeClock(sim.Noon)
	f.cluster.Clock = clock
	return f, clock
}

func withoutTerm(l *coordinationv1.Lease) *coordinationv1.Lease {
	l.Spec.LeaseDurationSeconds = nil
	return l
}

func TestALeaseWithoutADurationDoesNotExpireAtOnce(t *testing.T) {
	f, _ := atNoon(t, withoutTerm(leaseOf("bob", time.Second)))
	if held, ok := errors.AsType[*reconcile.HeldError](f.cluster.Begin(t.Context())); !ok || held.Holder != "bob" {
		t.Error("took a Lease that was renewed a second ago")
	}
}

// watched runs something that watches a Lease, and lets the time for it pass.
func watched(t *testing.T, clock *clocktesting.FakeClock, run func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); run() }()
	for range 3 {
		step(t, clock, 10*time.Second)
	}
	<-done
}

func TestAFreeOrExpiredLeaseIsTaken(t *testing.T) {
	emptied := leaseOf("", 0)
	emptied.Spec.HolderIdentity, emptied.Spec.RenewTime = nil, nil
	tests := map[string]struct {
		lease   *coordinationv1.Lease
		watched time.Duration
	}{
		"when there is none":                                        {nil, 0},
		"when it was released":                                      {emptied, 0},
		"when it is ours from a moment before":                      {leaseOf("ann@laptop process 7", time.Second), 0},
		"when it ran out and stays so":                              {leaseOf("bob@desk process 9", 61*time.Second), 30 * time.Second},
		"when its holder never recorded for how long, a minute ago": {withoutTerm(leaseOf("bob", 61*time.Second)), 30 * time.Second},
		"when what a clock ahead of ours wrote is not renewed":      {leaseOf("bob", -time.Hour), 30 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, clock := atNoon(t)
				if tc.lease != nil {
					f, clock = atNoon(t, tc.lease)
				}
				var took time.Time
				watched(t, clock, func() {
					if err := f.cluster.Begin(t.Context()); err != nil {
						t.Error(err)
					}
					took = clock.Now()
				})
				if took.Sub(sim.Noon) < tc.watched {
					t.Errorf("took it after %s, want it watched for %s", took.Sub(sim.Noon), tc.watched)
				}
				got := f.lease()
				if *got.HolderIdentity != "ann@laptop process 7" || got.RenewTime.Sub(sim.Noon) < tc.watched || *got.LeaseDurationSeconds != 60 {
					t.Errorf("the Lease is %+v", got)
				}
				if err := f.cluster.End(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := f.lease(); got.HolderIdentity != nil || got.RenewTime != nil {
					t.Errorf("the Lease was not released: %+v", got)
				}
			})
		})
	}
}

// Whoever is started again with a plan can determine whether it was the last to change anything.
func TestTheLeaseRecordsTheDigestOfTheStartedPlan(t *testing.T) {
	f, _ := atNoon(t)
	for _, digest := range []string{"sha256:one", ""} {
		f.cluster.Plan = digest
		if err := f.cluster.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.cluster.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		lease := &coordinationv1.Lease{}
		if err := f.api.Get(t.Context(), leaseKey, lease); err != nil {
			t.Fatal(err)
		}
		if got := lease.Annotations[live.AnnotationPlan]; got != digest {
			t.Errorf("the Lease remembers %q, want %q", got, digest)
		}
	}
}

func TestALeaseOfAnotherRunIsHeld(t *testing.T) {
	f, _ := atNoon(t, leaseOf("bob@desk process 9", 20*time.Second))
	err := f.cluster.Begin(t.Context())
	held, ok := errors.AsType[*reconcile.HeldError](err)
	if !ok || held.Holder != "bob@desk process 9" || !held.Until.Equal(sim.Noon.Add(40*time.Second)) {
		t.Fatalf("got %v, want held by bob for 40 s more", err)
	}
	if got := f.log.writes(); len(got) > 0 {
		t.Errorf("wrote %v", got)
	}
	if err := f.cluster.Act(t.Context(), plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"}); err == nil {
		t.Error("an action ran without the Lease")
	}
}

func TestOneOfTwoConcurrentRunsAcquiresTheLease(t *testing.T) {
	for name, leases := range map[string][]*coordinationv1.Lease{"for a new Lease": nil, "for one that ran out": {leaseOf("bob", time.Hour)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { race(t, leases...) })
		})
	}
}

func race(t *testing.T, leases ...*coordinationv1.Lease) {
	t.Helper()
	f, clock := atNoon(t, leases...)
	const runs = 8
	var clusters [runs]*live.Cluster
	var errs [runs]error
	watched(t, clock, func() {
		var group sync.WaitGroup
		for i := range runs {
			clusters[i] = live.New(live.Options{Client: f.api, Key: key, Holder: "run " + string(rune('a'+i)), Clock: clock})
			group.Go(func() { errs[i] = clusters[i].Begin(t.Context()) })
		}
		group.Wait()
	})
	winners := 0
	for i, err := range errs {
		if err == nil {
			winners++
			if got := *f.lease().HolderIdentity; got != clusters[i].Holder {
				t.Errorf("%s won, the Lease reports %s", clusters[i].Holder, got)
			}
			if err := clusters[i].End(t.Context()); err != nil {
				t.Error(err)
			}
			continue
		}
		if _, held := errors.AsType[*reconcile.HeldError](err); !held {
			t.Errorf("a loser met %v", err)
		}
	}
	if winners != 1 {
		t.Errorf("%d runs won", winners)
	}
}

// step lets d pass on a clock that someone waits for, and lets that be handled.
func step(t *testing.T, clock *clocktesting.FakeClock, d time.Duration) {
	t.Helper()
	synctest.Wait()
	clock.Step(d)
	synctest.Wait()
}

func TestTheLeaseIsRenewedWhileAPassRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, clock := atNoon(t)
		f.begin()
		for range 6 {
			step(t, clock, 20*time.Second)
		}
		got := f.lease()
		if want := metav1.NewMicroTime(sim.Noon.Add(2 * time.Minute)); !got.RenewTime.Equal(&want) || *got.LeaseTransitions != 1 {
			t.Errorf("renewed at %s with %d transitions, want at %s with 1", got.RenewTime, *got.LeaseTransitions, want)
		}
		if !got.AcquireTime.Equal(new(metav1.NewMicroTime(sim.Noon))) {
			t.Errorf("a renewal changed when the Lease was taken: %s", got.AcquireTime)
		}
		if err := act(f); err != nil {
			t.Errorf("an action failed under a renewed Lease: %v", err)
		}
		if err := f.cluster.End(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func act(f *field) error {
	return f.cluster.Act(f.t.Context(), plan.SetConnectionString{ConnectionString: "a:b@1.1.1.1:4501"})
}

func TestALostLeaseStopsFurtherActions(t *testing.T) {
	taken := func(f *field) {
		lease := &coordinationv1.Lease{}
		if err := f.api.Get(f.t.Context(), leaseKey, lease); err != nil {
			f.t.Fatal(err)
		}
		lease.Spec.HolderIdentity = new("bob@desk process 9")
		if err := f.api.Update(f.t.Context(), lease); err != nil {
			f.t.Fatal(err)
		}
	}
	deleted := func(f *field) {
		if err := f.api.Delete(f.t.Context(), leaseOf("", 0)); err != nil {
			f.t.Fatal(err)
		}
	}
	unreachable := func(f *field) {
		f.log.refuse = func(request string) error {
			if strings.Contains(request, "Lease") {
				return errors.New("no route")
			}
			return nil
		}
	}
	tests := map[string]struct {
		lose func(*field)
		pass time.Duration
	}{
		"when another run took it":                     {taken, 20 * time.Second},
		"when a user deleted it":                       {deleted, 20 * time.Second},
		"when it could not be renewed in time":         {unreachable, 60 * time.Second},
		"when the machine slept while another took it": {taken, time.Hour},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, clock := atNoon(t)
				f.begin()
				if err := act(f); err != nil {
					t.Fatal(err)
				}
				tc.lose(f)
				step(t, clock, tc.pass)
				f.log.reset()
				if err := act(f); err == nil || !strings.Contains(err.Error(), "Lease") {
					t.Errorf("an action ran without the Lease: %v", err)
				}
				if err := f.cluster.Lock(t.Context()); err == nil || !strings.Contains(err.Error(), "Lease") {
					t.Errorf("the lock was taken without the Lease: %v", err)
				}
				if got := f.log.those("status", "exec"); len(got) > 0 {
					t.Errorf("did %v", got)
				}
				f.log.refuse = nil
				if err := f.cluster.End(t.Context()); err != nil && name != "when a user deleted it" {
					t.Error(err)
				}
			})
		})
	}
}

// A renewal that hangs must not make an old Lease look like ours.
func TestAnActionVerifiesThatItsRunStillHoldsAnOldLease(t *testing.T) {
	tests := map[string]struct {
		holder string
		runs   bool
	}{
		"goes on when no other took it":        {"ann@laptop process 7", true},
		"stops when another run did":           {"bob@desk process 9", false},
		"stops when another run came and went": {"", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newField(t, sample()) // its tickers never fire, as if the renewal hung
			f.begin()
			lease := &coordinationv1.Lease{}
			if err := f.api.Get(t.Context(), leaseKey, lease); err != nil {
				t.Fatal(err)
			}
			lease.Spec.HolderIdentity = &tc.holder
			if err := f.api.Update(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			f.nodes.FDB.Advance(31 * time.Second) // others watch a Lease for half a minute
			if err := act(f); (err == nil) != tc.runs {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestALeaseTakenByAnotherRunIsNotReleased(t *testing.T) {
	f, _ := atNoon(t)
	if err := f.cluster.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{}
	if err := f.api.Get(t.Context(), leaseKey, lease); err != nil {
		t.Fatal(err)
	}
	lease.Spec.HolderIdentity = new("bob@desk process 9")
	if err := f.api.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if err := f.cluster.End(t.Context()); err != nil {
		t.Error(err)
	}
	if got := *f.lease().HolderIdentity; got != "bob@desk process 9" {
		t.Errorf("the Lease reports %q", got)
	}
}

// The request of a renewal that the end of a pass cancels may have been sent already.
func TestALeaseThatALateRenewalChangedIsReleased(t *testing.T) {
	f, _ := atNoon(t)
	if err := f.cluster.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := sync.OnceValue(func() error {
		lease := &coordinationv1.Lease{}
		if err := f.api.Get(t.Context(), leaseKey, lease); err != nil {
			return err
		}
		lease.Spec.RenewTime = new(metav1.NewMicroTime(sim.Noon.Add(time.Second)))
		return f.api.Update(t.Context(), lease)
	})
	f.log.refuse = func(request string) error {
		if strings.HasPrefix(request, "update Lease") {
			return late()
		}
		return nil
	}
	if err := f.cluster.End(t.Context()); err != nil {
		t.Error(err)
	}
	if got := f.lease(); got.HolderIdentity != nil {
		t.Errorf("the Lease is still held by %s", *got.HolderIdentity)
	}
}

func TestTheLeaseIsReleasedAfterAnInterruption(t *testing.T) {
	f := newField(t, sample())
	ctx, cancel := context.WithCancel(t.Context())
	p := reconcile.Pass{Stages: clusterStages(), Observer: f.cluster, Actor: f.cluster, Seed: 42, Report: func(e reconcile.Event) {
		if _, ok := e.(reconcile.ActionStarted); ok {
			cancel()
		}
	}}
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the pass ended with %v", err)
	}
	if got := f.lease(); got.HolderIdentity != nil {
		t.Errorf("the Lease is still held by %s", *got.HolderIdentity)
	}
}

func TestAPassWithNothingToDoTakesNoLease(t *testing.T) {
	f := settled(t)
	f.log.refuse = func(request string) error {
		if strings.Contains(request, "Lease") {
			t.Errorf("asked for %s", request)
		}
		return nil
	}
	if done := f.pass(); done.Outcome != reconcile.Done {
		t.Errorf("the pass ends %s", done.Outcome)
	}
}
