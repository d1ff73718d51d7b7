package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// heldLock is the database's lock while this run holds it.
type heldLock struct {
	lock fdb.Lock
	keys fdb.LockKeys
}

// lockKeeper takes and releases the database's own lock for this run.
type lockKeeper struct {
	*Options
	db *database

	mu            sync.Mutex
	locked        *heldLock
	cooldownUntil time.Time // until when other control-plane instances must not act
}

// Lock implements reconcile.Actor. It requires the Lease always, and the database's own lock
// where the spec uses locks and a database exists.
func (w *Cluster) Lock(ctx context.Context) error {
	if err := w.leases.stillOurs(ctx); err != nil {
		return err
	}
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("take the database's lock: %w", err)
	}
	normalized := cluster.NormalizedToRead()
	if !normalized.LocksUsed() || !normalized.Status.Configured {
		return nil
	}
	return w.locks.takeLock(ctx, cli, normalized)
}

func (l *lockKeeper) takeLock(ctx context.Context, cli admin.KV, c *v1beta2.FoundationDBCluster) error {
	request := fdb.LockRequest{
		Owner: c.LockOwner(), Now: l.Clock.Now(), Duration: c.LockDuration(), Nonce: l.Nonce(),
		AllowEmptyOwner: l.Overrides[plan.GateLockOwner] != "",
	}
	keys := fdb.LockKeys{Prefix: c.LockKeyPrefix()}
	taken, err := admin.TakeLock(ctx, cli, keys, request)
	if err != nil {
		return lockRefusal(request, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.wroteLock(taken.Holder) {
		l.cooldownUntil = latest(l.cooldownUntil, taken.QuietUntil(request.Now))
	}
	l.locked = &heldLock{lock: *taken.Write, keys: keys}
	return nil
}

// wroteLock reports whether the lock was written by this very run.
func (l *lockKeeper) wroteLock(found *fdb.Lock) bool {
	return found != nil && l.locked != nil && found.HeldBy(l.locked.lock.Owner, l.locked.lock.Nonce)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// refusal returns who holds the lock, or why this control-plane instance may not take it.
func refusal(request fdb.LockRequest, d fdb.LockDecision) error {
	switch d.Outcome {
	case fdb.LockNameless:
		return &reconcile.RefusedError{Check: plan.Check{
			ID:       plan.CheckLockOwnerNamed,
			Question: "does the lock owner have a name?", Gate: plan.GateLockOwner,
			Evidence: "spec.processGroupIDPrefix is empty, so all control-plane instances without a prefix would share one lock; set it (which replaces all process groups), set spec.lockOptions.disableLocks where no other control-plane instance shares the database, or override G-LOCK-OWNER",
		}}
	case fdb.LockDenied:
		return &reconcile.RefusedError{Check: plan.Check{
			ID:       plan.CheckNotDenied,
			Question: "may this control-plane instance take the lock?", Gate: plan.GateDeny,
			Evidence: fmt.Sprintf("%s is on the deny list in the database", request.Owner),
		}}
	default:
		return heldBy(d.Holder)
	}
}

func heldBy(holder *fdb.Lock) error {
	if holder == nil {
		return &reconcile.HeldError{What: "database lock", Holder: "an unknown owner"}
	}
	return &reconcile.HeldError{What: "database lock", Holder: holder.Holder(), Until: holder.End}
}

// End implements reconcile.Actor. The lock is released first: the Lease protects it.
func (w *Cluster) End(ctx context.Context) error {
	const limit = time.Minute
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return errors.Join(w.locks.releaseLock(ctx), w.leases.releaseLease(ctx))
}

func (l *lockKeeper) releaseLock(ctx context.Context) error {
	l.mu.Lock()
	held := l.locked
	l.locked = nil
	l.mu.Unlock()
	if held == nil {
		return nil
	}
	cli, _, err := l.db.open(ctx)
	if err != nil {
		return fmt.Errorf("release the database's lock: %w", err)
	}
	if until, quiet := l.quietUntil(); quiet {
		return admin.KeepLockUntil(ctx, cli, held.keys, held.lock, until)
	}
	if err := admin.ReleaseLock(ctx, cli, held.keys, held.lock); err != nil {
		return fmt.Errorf("release the database's lock, which expires by itself: %w", err)
	}
	return nil
}

// keepQuiet records that processes were stopped which the database still shows. The lock is
// held for as long after the pass, also by the next run, which does not know of it: another
// control-plane instance would read a status without the loss.
func (l *lockKeeper) keepQuiet(a plan.Action) {
	quiet := plan.EffectOf(a).Cooldown
	if quiet == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cooldownUntil = latest(l.cooldownUntil, l.Clock.Now().Add(quiet))
}

func (l *lockKeeper) quietUntil() (until time.Time, quiet bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cooldownUntil, l.cooldownUntil.After(l.Clock.Now())
}

// readCoordination reads what control-plane instances share, where there are several and a
// database to share it in.
func (d *database) readCoordination(ctx context.Context, c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) (plan.CoordinationFacts, error) {
	facts := plan.CoordinationFacts{}
	if !c.Status.Configured {
		return facts, nil
	}
	cli, _, err := d.client(ctx, c, pods)
	if err != nil {
		return facts, Interrupted(ctx) // the status of the database has the reason
	}
	if plan.ExclusionsMatter(c) {
		lists, err := cli.ExclusionLists(ctx)
		if err := Interrupted(ctx); err != nil {
			return facts, err
		}
		if err == nil {
			noteExclusions(&facts, lists)
		}
	}
	if !c.LocksUsed() && !c.ResetMaintenanceMode() && !actsTogether(c) {
		return facts, nil
	}
	shared, err := admin.ReadShared(ctx, cli, fdb.LockKeys{Prefix: c.LockKeyPrefix()}, sharedRequest(c))
	if err := Interrupted(ctx); err != nil {
		return plan.CoordinationFacts{}, err
	}
	if err != nil {
		return facts, nil // an unreachable database is a fact: Read stays false
	}
	noteShared(&facts, shared, c)
	return facts, nil
}

func noteExclusions(facts *plan.CoordinationFacts, lists admin.ExclusionLists) {
	facts.ExclusionsRead = true
	facts.Exclusions, facts.FailedExclusions, facts.InProgressExclusions = lists.InForce, lists.Failed, lists.InProgress
}

func noteShared(facts *plan.CoordinationFacts, shared admin.Shared, c *v1beta2.FoundationDBCluster) {
	facts.Read, facts.Lock, facts.DenyList, facts.Denials = true, shared.Lock, shared.Denied, shared.Denials
	facts.Maintenance = map[v1beta2.ProcessGroupID]time.Time{}
	for group, at := range shared.Maintenance {
		facts.Maintenance[v1beta2.ProcessGroupID(group)] = at
	}
	facts.Announced = announced(shared)
	facts.ReadyForUpgrade = facts.Announced[c.Spec.Version]
	facts.Lists = plan.ListFacts{Read: shared.Lists != nil, Entries: shared.Lists, Addresses: shared.Addresses}
}

// sharedRequest requests only what the spec's rules read.
func sharedRequest(c *v1beta2.FoundationDBCluster) admin.SharedRequest {
	return admin.SharedRequest{Upgrades: c.LocksUsed(), Maintenance: c.ResetMaintenanceMode(), Lists: actsTogether(c)}
}

func announced(shared admin.Shared) map[string][]v1beta2.ProcessGroupID {
	if len(shared.Announced) == 0 {
		return nil
	}
	all := map[string][]v1beta2.ProcessGroupID{}
	for version, groups := range shared.Announced {
		for _, group := range groups {
			all[version] = append(all[version], v1beta2.ProcessGroupID(group))
		}
	}
	return all
}

func actsTogether(c *v1beta2.FoundationDBCluster) bool {
	return c.SynchronizationMode() == v1beta2.SynchronizationModeGlobal
}

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
