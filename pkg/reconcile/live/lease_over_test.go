package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// Whatever a Lease looks like by our clock, a run that goes on renewing it keeps it.
func TestALeaseRenewedWhileObservedIsHeldDespiteClockSkew(t *testing.T) {
	tests := map[string]time.Duration{
		"by a clock that is behind ours": time.Hour,
		"by a clock that is ahead":       -time.Hour,
		"by one that is just behind":     70 * time.Second,
	}
	for name, ago := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, clock := atNoon(t, leaseOf("bob@desk process 9", ago))
				var err error
				done := make(chan struct{})
				go func() { defer close(done); err = f.cluster.Begin(t.Context()) }()
				step(t, clock, 10*time.Second)
				f.renewAsBob(clock.Now().Add(-ago))
				step(t, clock, 10*time.Second)
				step(t, clock, 10*time.Second)
				<-done
				held, ok := errors.AsType[*reconcile.HeldError](err)
				if !ok || held.Holder != "bob@desk process 9" || !held.Until.Equal(sim.Noon.Add(90*time.Second)) {
					t.Errorf("got %v, want held by bob for a minute from now", err)
				}
				if got := *f.lease().HolderIdentity; got != "bob@desk process 9" {
					t.Errorf("the Lease reports %q", got)
				}
			})
		})
	}
}

// renewAsBob renews the Lease for the run that has it, at a time by its own clock.
func (f *field) renewAsBob(at time.Time) {
	f.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := f.api.Get(f.t.Context(), leaseKey, lease); err != nil {
		f.t.Fatal(err)
	}
	lease.Spec.RenewTime = new(metav1.NewMicroTime(at))
	if err := f.api.Update(f.t.Context(), lease); err != nil {
		f.t.Fatal(err)
	}
}

func TestWaitingForALeaseIsReportedAndCanBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, clock := atNoon(t, leaseOf("bob@desk process 9", time.Hour))
		var output []string
		f.cluster.Report = func(words string) { output = append(output, words) }
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		done := make(chan struct{})
		go func() { defer close(done); err = f.cluster.Begin(ctx) }()
		step(t, clock, 10*time.Second)
		cancel()
		<-done
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was interrupted", err)
		}
		if len(output) != 2 || !strings.Contains(output[0], "held by bob@desk process 9") || !strings.Contains(output[0], "in 30s") || !strings.Contains(output[1], "in 20s") {
			t.Errorf("said %q", output)
		}
		if got := f.log.writes(); len(got) > 0 {
			t.Errorf("wrote %v", got)
		}
	})
}
