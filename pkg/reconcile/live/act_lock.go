package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// holdLock takes the lock manually for a user, and reads it back. It is not stored as this
// run's lock, so the end of the run does not release it.
func (w *databaseWriter) holdLock(ctx context.Context, a plan.HoldLock) error {
	cli, keys, err := w.sharedKeys(ctx, "hold the lock")
	if err != nil {
		return err
	}
	request := fdb.LockRequest{
		Owner: a.Owner, User: a.User, Now: w.Clock.Now(), Duration: a.For, Nonce: w.Nonce(),
		AllowEmptyOwner: w.Overrides[plan.GateLockOwner] != "",
	}
	taken, err := admin.TakeLock(ctx, cli, keys, request)
	if err != nil {
		return lockRefusal(request, err)
	}
	found, _, err := admin.ReadLock(ctx, cli, keys)
	if err != nil {
		return fmt.Errorf("the lock was taken, and could not be read back: %w", err)
	}
	if found == nil || !found.Same(*taken.Write) {
		return fmt.Errorf("the lock was taken, but is not held any more: %w", heldBy(found))
	}
	return nil
}

// releaseManually clears the lock that a user was shown. A lock that is free by now is a
// success.
func (w *databaseWriter) releaseManually(ctx context.Context, a plan.ReleaseLock) error {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("release the lock: %w", err)
	}
	outcome, found, err := admin.ReleaseLockByHand(ctx, cli, fdb.LockKeys{Prefix: cluster.LockKeyPrefix()}, fdb.ReleaseRequest{
		Seen: a.Seen, Owner: cluster.LockOwner(), User: a.User, Now: w.Clock.Now(), Force: a.Force,
	})
	switch {
	case err != nil:
		return err
	case outcome == fdb.ReleaseGranted, outcome == fdb.ReleaseFree:
		return nil
	case outcome == fdb.ReleaseChanged:
		return fmt.Errorf("the lock was written again since it was shown, and is not cleared: %w", heldBy(found))
	case outcome == fdb.ReleaseOthers:
		return fmt.Errorf("--force is required to clear it: %w", heldBy(found))
	default:
		return heldBy(found)
	}
}

// lockRefusal returns the error of a lock that cannot be taken.
func lockRefusal(request fdb.LockRequest, err error) error {
	if refused, ok := errors.AsType[*admin.LockHeldError](err); ok {
		return refusal(request, refused.Decision)
	}
	if admin.KindOf(err) == admin.KindLocked {
		return &reconcile.RefusedError{Check: plan.Check{
			ID:       plan.CheckNotLocked,
			Question: "is the database free of restore and disaster recovery locks?", Gate: plan.GateDBLock, Evidence: err.Error(),
		}}
	}
	return err
}
