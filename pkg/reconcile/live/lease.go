package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The Lease keeps two runs on one cluster apart. It is renewed while a pass acts; after a run
// died, others wait for leaseDuration, and for as long as it takes to verify that. Nothing
// relies on the clocks of two machines: a run relies on a renewal for leaseTrust by its own
// clock, and the run that takes the Lease over has seen it unchanged for as long by its own.
const (
	leaseDuration = 60 * time.Second
	leaseRenewal  = leaseDuration / 3
	leaseTrust    = leaseDuration / 2
)

// heldLease is a Lease that this run holds, and its renewal.
type heldLease struct {
	stop    context.CancelFunc
	stopped chan struct{}
	lost    error // set before stopped is closed

	mu      sync.Mutex // one renewal at a time: two would conflict with each other
	renewed time.Time  // when the last renewal that succeeded was requested
}

// AnnotationPlan of a Lease is the digest of the plan that its last holder carried out; absent
// where that run carried out no plan.
const AnnotationPlan = "kubectl-fdb/plan"

// LeaseName is the name of the Lease of a cluster.
func LeaseName(cluster string) string { return "kubectl-fdb-" + cluster }

// BackupLeaseName is the name of the Lease of a backup.
func BackupLeaseName(backup string) string { return "kubectl-fdb-backup-" + backup }

// leaseKeeper takes, renews and releases the Lease of this run.
type leaseKeeper struct {
	*Options
	known    *known
	refusals *refusals

	writing   sync.Mutex // the Lease is taken, released, or its operation renewed: these would conflict with each other
	mu        sync.Mutex
	held      *heldLease
	operation reconcile.Operation // to which the passes belong; zero for none
	stored    time.Time           // when it was written first since it was set; zero before
	refuses   bool                // beside another run's operation
	reported  bool                // another operation was reported
}

func (l *leaseKeeper) leaseName() string {
	if l.Lease != "" {
		return l.Lease
	}
	return LeaseName(l.Key.Name)
}

// begin takes the Lease and renews it until releaseLease.
func (l *leaseKeeper) begin(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	requested := l.Clock.Now()
	if err := l.takeLease(ctx); err != nil {
		return err
	}
	renewals, stop := context.WithCancel(context.WithoutCancel(ctx))
	held := &heldLease{stop: stop, stopped: make(chan struct{}), renewed: requested}
	l.mu.Lock()
	l.held = held
	l.mu.Unlock()
	go l.keepLease(renewals, held)
	return nil
}

// current returns the Lease that this run holds; nil for none.
func (l *leaseKeeper) current() *heldLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// takeLease takes the Lease if it is free, held by this run, or expired. Of several concurrent
// attempts, the API server lets only one succeed.
func (l *leaseKeeper) takeLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: l.Key.Namespace, Name: l.leaseName()}
	err := l.Client.Get(ctx, key, lease)
	switch {
	case apierrors.IsNotFound(err):
		lease.ObjectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
		l.claim(lease)
		err = l.Client.Create(ctx, lease)
	case err != nil:
		return fmt.Errorf("read the Lease %s: %w", key.Name, err)
	case l.mayChangeBeside(lease) != nil:
		return l.mayChangeBeside(lease)
	case l.isAnothers(lease):
		return l.takeOver(ctx, lease)
	default:
		l.claim(lease)
		err = l.Client.Update(ctx, lease)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return &reconcile.HeldError{What: "lease " + key.Name, Holder: "another run that took it at the same time"}
	}
	if err != nil {
		return fmt.Errorf("take the Lease %s: %w", key.Name, err)
	}
	return nil
}

func (l *leaseKeeper) claim(lease *coordinationv1.Lease) {
	delete(lease.Annotations, AnnotationPlan)
	if l.Plan != "" {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationPlan, l.Plan)
	}
	l.noteOperation(lease)
	now := metav1.NewMicroTime(l.Clock.Now())
	if ptr.Deref(lease.Spec.HolderIdentity, "") != l.Holder {
		lease.Spec.AcquireTime = &now
		lease.Spec.LeaseTransitions = new(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
	}
	lease.Spec.HolderIdentity = new(l.Holder)
	lease.Spec.RenewTime = &now
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration / time.Second))
}

// keepLease renews the Lease until it is stopped or has lost it.
func (l *leaseKeeper) keepLease(ctx context.Context, held *heldLease) {
	defer close(held.stopped)
	ticker := l.Clock.NewTicker(leaseRenewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		err := l.renew(ctx, held, leaseRenewal)
		var taken *reconcile.HeldError
		if errors.As(err, &taken) || err != nil && l.age(held) >= leaseDuration {
			held.lost = fmt.Errorf("lost the Lease during the pass: %w", err)
			return
		}
	}
}

// renew extends the Lease unless it is younger than most. A Lease that this run does not hold
// any more is lost even if it is free now: another run may have acted in between.
func (l *leaseKeeper) renew(ctx context.Context, held *heldLease, most time.Duration) error {
	held.mu.Lock()
	defer held.mu.Unlock()
	requested := l.Clock.Now()
	if requested.Sub(held.renewed) < most {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaseRenewal)
	defer cancel()
	lease := &coordinationv1.Lease{}
	name := l.leaseName()
	err := l.Client.Get(ctx, types.NamespacedName{Namespace: l.Key.Namespace, Name: name}, lease)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the Lease %s: %w", name, err)
	}
	if holder := ptr.Deref(lease.Spec.HolderIdentity, "no run"); holder != l.Holder {
		return &reconcile.HeldError{What: "lease " + name, Holder: holder}
	}
	l.claim(lease)
	err = l.Client.Update(ctx, lease)
	if apierrors.IsConflict(err) {
		return &reconcile.HeldError{What: "lease " + name, Holder: "another run that took it at the same time"}
	}
	if err != nil {
		return fmt.Errorf("renew the Lease %s: %w", name, err)
	}
	held.renewed = requested
	return nil
}

func (l *leaseKeeper) age(held *heldLease) time.Duration {
	held.mu.Lock()
	defer held.mu.Unlock()
	return l.Clock.Since(held.renewed)
}

// stillOurs returns an error once the Lease is lost: then nothing may be changed. A Lease that
// should have been renewed by now, because the machine slept or the renewal hangs, counts only
// once the API server has confirmed that this run still holds it.
func (l *leaseKeeper) stillOurs(ctx context.Context) error {
	held := l.current()
	if held == nil {
		return errors.New("no Lease was taken")
	}
	select {
	case <-held.stopped:
		return held.lost
	default:
	}
	if err := l.renew(ctx, held, leaseTrust); err != nil {
		return fmt.Errorf("verify that this run holds the Lease: %w", err)
	}
	return nil
}

// releaseLease empties the Lease, so that the next run need not wait for it to expire.
func (l *leaseKeeper) releaseLease(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	held := l.held
	l.held = nil
	l.mu.Unlock()
	if held == nil {
		return nil
	}
	held.stop()
	<-held.stopped
	// A renewal that was canceled on its way may still arrive, between the read and the update.
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return l.emptyLease(ctx) }); err != nil {
		return fmt.Errorf("release the Lease %s: %w", l.leaseName(), err)
	}
	return nil
}

// emptyLease removes the holder, if that is this run.
func (l *leaseKeeper) emptyLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	if err := l.Client.Get(ctx, types.NamespacedName{Namespace: l.Key.Namespace, Name: l.leaseName()}, lease); err != nil {
		return err
	}
	if ptr.Deref(lease.Spec.HolderIdentity, "") != l.Holder {
		return nil // another run took it over: nothing to release
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = nil, nil
	l.refusals.note(lease, l.known.leaseUID())
	return l.Client.Update(ctx, lease)
}

// actLimit bounds an action without a limit of its own. The longest, creating a database with
// all its read-backs, takes up to 75 s for the command and as long again until the status
// shows it.
const actLimit = 4 * time.Minute

// during is the context of an action. One that lasts long ends with the Lease as well: from
// then on another run may act.
func (l *leaseKeeper) during(ctx context.Context, a plan.Action) (context.Context, context.CancelFunc) {
	atMost := plan.EffectOf(a).AtMost
	if atMost == 0 {
		return context.WithTimeout(ctx, actLimit)
	}
	ctx, cut := context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeout(ctx, atMost)
	held := l.current()
	go func() {
		select {
		case <-held.stopped:
			cut(held.lost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); cut(context.Canceled) }
}

// known is what a run knows of its cluster from what it read and wrote itself.
type known struct {
	*Options

	mu             sync.Mutex
	given          Given
	resource       *v1beta2.FoundationDBCluster // as the API server has it, spec not normalized; nil before the first read
	pods           map[string]*corev1.Pod       // newest known, to find one to run fdbcli in
	nodesRequested bool                         // nodes are read even if no rule of the spec needs them
	leaseOf        types.UID                    // of the resource that the Lease is of, where passes are not over the cluster itself
}

// cluster returns the resource as the API server has it; nil before the first read.
func (k *known) cluster() *v1beta2.FoundationDBCluster {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resource
}

// setLeaseOf notes the resource that the Lease is of: a backup, or the destination of a restore.
func (k *known) setLeaseOf(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaseOf = uid
}

// leaseUID returns the UID of the resource that the Lease is of; empty before it was read.
func (k *known) leaseUID() types.UID {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leaseOf == "" && k.resource != nil && k.Lease == "" {
		return k.resource.UID
	}
	return k.leaseOf
}

// toReach returns the resource and the pods, which lead to the database.
func (k *known) toReach() (*v1beta2.FoundationDBCluster, map[string]*corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resource, k.pods
}
