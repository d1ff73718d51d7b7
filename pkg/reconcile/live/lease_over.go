package live

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// isAnothers reports whether a Lease is another run's that may still live.
func (w *World) isAnothers(lease *coordinationv1.Lease) bool {
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	return holder != "" && holder != w.Holder && lease.Spec.RenewTime != nil && !diedHere(holder)
}

// takeOver takes another run's Lease once that has run out. That it has by our clock is no
// proof, since the holder wrote the time by its own: it has to stay unchanged while we watch.
// The API server refuses to write a Lease that was renewed since it was read.
func (w *World) takeOver(ctx context.Context, lease *coordinationv1.Lease) error {
	if until, renewed := w.looksRenewed(lease); renewed {
		return &reconcile.HeldError{What: "lease " + lease.Name, Holder: *lease.Spec.HolderIdentity, Until: until}
	}
	if err := w.watchLease(ctx, lease); err != nil {
		return err
	}
	w.claim(lease)
	err := w.Client.Update(ctx, lease)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return w.renewedMeanwhile(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("taking the Lease %s over: %w", lease.Name, err)
	}
	return nil
}

// looksRenewed reports whether a Lease was renewed within its term, as far as our clock can
// tell, and until when it lasts then. Of one that was renewed later than now it cannot.
func (w *World) looksRenewed(lease *coordinationv1.Lease) (until time.Time, renewed bool) {
	term := leaseDuration // a Lease that does not say how long it lasts is not over at once
	if lease.Spec.LeaseDurationSeconds != nil {
		term = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	}
	at, now := lease.Spec.RenewTime.Time, w.Clock.Now()
	return at.Add(term), !at.After(now) && !now.After(at.Add(term))
}

// watchLease waits for as long as a run relies on a renewal, and says so.
func (w *World) watchLease(ctx context.Context, lease *coordinationv1.Lease) error {
	const step = leaseTrust / 3
	for left := leaseTrust; left > 0; left -= step {
		w.tell(fmt.Sprintf("the lease %s is held by %s, who last renewed it at %s; it is taken over in %s unless it is renewed",
			lease.Name, *lease.Spec.HolderIdentity, lease.Spec.RenewTime.UTC().Format(time.RFC3339), left))
		timer := w.Clock.NewTimer(step)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C():
		}
	}
	return nil
}

func (w *World) tell(words string) {
	if w.Tell != nil {
		w.Tell(words)
	}
}

// renewedMeanwhile says who has a Lease that changed while it was watched. Whoever it is has
// just written it: it lasts for a whole term from now at most, whatever time it says.
func (w *World) renewedMeanwhile(ctx context.Context, lease *coordinationv1.Lease) error {
	held := &reconcile.HeldError{What: "lease " + lease.Name, Holder: "another run that took it at the same moment"}
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
		return held // that somebody else has it is the answer; who is a courtesy
	}
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
		held.Holder, held.Until = holder, w.Clock.Now().Add(leaseDuration)
	}
	return held
}
