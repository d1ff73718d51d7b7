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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live/holder"
)

// isAnothers reports whether a Lease is held by another run that may still be active.
func (l *leaseKeeper) isAnothers(lease *coordinationv1.Lease) bool {
	by := ptr.Deref(lease.Spec.HolderIdentity, "")
	return by != "" && by != l.Holder && lease.Spec.RenewTime != nil && !holder.Ended(by)
}

// takeOver takes another run's Lease once it has expired. By this machine's clock alone that is
// no proof, since the holder wrote the time by its own: it must stay unchanged for a while. The
// API server refuses to write a Lease that was renewed since it was read.
func (l *leaseKeeper) takeOver(ctx context.Context, lease *coordinationv1.Lease) error {
	if until, renewed := l.looksRenewed(lease); renewed {
		return &reconcile.HeldError{What: "lease " + lease.Name, Holder: *lease.Spec.HolderIdentity, Until: until}
	}
	if err := l.watchLease(ctx, lease); err != nil {
		return err
	}
	l.claim(lease)
	err := l.Client.Update(ctx, lease)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return l.renewedMeanwhile(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("take over the Lease %s: %w", lease.Name, err)
	}
	return nil
}

// looksRenewed reports whether a Lease was renewed within its term by this machine's clock, and
// until when it lasts then. It is false for a renewal in the future.
func (l *leaseKeeper) looksRenewed(lease *coordinationv1.Lease) (until time.Time, renewed bool) {
	term, _ := LeaseTerm(lease)
	at, now := lease.Spec.RenewTime.Time, l.Clock.Now()
	return at.Add(term), !at.After(now) && !now.After(at.Add(term))
}

// longestTerm is the longest duration of a Lease that counts. Runs write leaseDuration; those of other releases may write a longer one.
const longestTerm = 10 * time.Minute

// LeaseTerm returns how long a Lease lasts after a renewal, and the duration that it has if that is one which no run writes; 0
// otherwise. Such a Lease, and one without a duration, lasts as long as that of a run.
func LeaseTerm(lease *coordinationv1.Lease) (term, odd time.Duration) {
	if lease.Spec.LeaseDurationSeconds == nil {
		return leaseDuration, 0
	}
	term = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	if term < 0 || term > longestTerm {
		return leaseDuration, term
	}
	return term, 0
}

// watchLease waits for as long as a run relies on a renewal, and reports that.
func (l *leaseKeeper) watchLease(ctx context.Context, lease *coordinationv1.Lease) error {
	const step = leaseTrust / 3
	for left := leaseTrust; left > 0; left -= step {
		l.report(fmt.Sprintf("the Lease %s is held by %s, last renewed at %s; it is taken over in %s unless it is renewed",
			lease.Name, *lease.Spec.HolderIdentity, lease.Spec.RenewTime.UTC().Format(time.RFC3339), left))
		timer := l.Clock.NewTimer(step)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C():
		}
	}
	return nil
}

func (l *leaseKeeper) report(words string) {
	if l.Report != nil {
		l.Report(words)
	}
}

// renewedMeanwhile returns who holds a Lease that changed while it was watched. The holder has
// just written it: it lasts for at most a whole term from now, whatever its time.
func (l *leaseKeeper) renewedMeanwhile(ctx context.Context, lease *coordinationv1.Lease) error {
	held := &reconcile.HeldError{What: "lease " + lease.Name, Holder: "another run that took it at the same time"}
	if err := l.Client.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
		return held // the holder's name only explains the error
	}
	if by := ptr.Deref(lease.Spec.HolderIdentity, ""); by != "" {
		held.Holder, held.Until = by, l.Clock.Now().Add(leaseDuration)
	}
	return held
}
