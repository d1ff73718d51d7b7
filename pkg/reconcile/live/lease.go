package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
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

func (w *World) leaseName() string {
	if w.Lease != "" {
		return w.Lease
	}
	return LeaseName(w.Key.Name)
}

// Begin implements reconcile.Actor.
func (w *World) Begin(ctx context.Context) error {
	asked := w.Clock.Now()
	if err := w.takeLease(ctx); err != nil {
		return err
	}
	renewals, stop := context.WithCancel(context.WithoutCancel(ctx))
	held := &heldLease{stop: stop, stopped: make(chan struct{}), renewed: asked}
	w.mu.Lock()
	w.lease, w.looked = held, look{}
	w.mu.Unlock()
	go w.keepLease(renewals, held)
	return nil
}

// takeLease takes the Lease if it is free, held by this run, or expired. Of several concurrent
// attempts, the API server lets only one succeed.
func (w *World) takeLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: w.Key.Namespace, Name: w.leaseName()}
	err := w.Client.Get(ctx, key, lease)
	switch {
	case apierrors.IsNotFound(err):
		lease.ObjectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
		w.claim(lease)
		err = w.Client.Create(ctx, lease)
	case err != nil:
		return fmt.Errorf("read the Lease %s: %w", key.Name, err)
	case w.isAnothers(lease):
		return w.takeOver(ctx, lease)
	default:
		w.claim(lease)
		err = w.Client.Update(ctx, lease)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return &reconcile.HeldError{What: "lease " + key.Name, Holder: "another run that took it at the same time"}
	}
	if err != nil {
		return fmt.Errorf("take the Lease %s: %w", key.Name, err)
	}
	return nil
}

func (w *World) claim(lease *coordinationv1.Lease) {
	delete(lease.Annotations, AnnotationPlan)
	if w.Plan != "" {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationPlan, w.Plan)
	}
	now := metav1.NewMicroTime(w.Clock.Now())
	if ptr.Deref(lease.Spec.HolderIdentity, "") != w.Holder {
		lease.Spec.AcquireTime = &now
		lease.Spec.LeaseTransitions = new(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
	}
	lease.Spec.HolderIdentity = new(w.Holder)
	lease.Spec.RenewTime = &now
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration / time.Second))
}

// keepLease renews the Lease until it is stopped or has lost it.
func (w *World) keepLease(ctx context.Context, held *heldLease) {
	defer close(held.stopped)
	ticker := w.Clock.NewTicker(leaseRenewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		err := w.renew(ctx, held, leaseRenewal)
		var taken *reconcile.HeldError
		if errors.As(err, &taken) || err != nil && w.age(held) >= leaseDuration {
			held.lost = fmt.Errorf("lost the Lease during the pass: %w", err)
			return
		}
	}
}

// renew extends the Lease unless it is younger than most. A Lease that this run does not hold
// any more is lost even if it is free now: another run may have acted in between.
func (w *World) renew(ctx context.Context, held *heldLease, most time.Duration) error {
	held.mu.Lock()
	defer held.mu.Unlock()
	asked := w.Clock.Now()
	if asked.Sub(held.renewed) < most {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaseRenewal)
	defer cancel()
	lease := &coordinationv1.Lease{}
	name := w.leaseName()
	err := w.Client.Get(ctx, types.NamespacedName{Namespace: w.Key.Namespace, Name: name}, lease)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the Lease %s: %w", name, err)
	}
	if holder := ptr.Deref(lease.Spec.HolderIdentity, "no run"); holder != w.Holder {
		return &reconcile.HeldError{What: "lease " + name, Holder: holder}
	}
	w.claim(lease)
	err = w.Client.Update(ctx, lease)
	if apierrors.IsConflict(err) {
		return &reconcile.HeldError{What: "lease " + name, Holder: "another run that took it at the same time"}
	}
	if err != nil {
		return fmt.Errorf("renew the Lease %s: %w", name, err)
	}
	held.renewed = asked
	return nil
}

func (w *World) age(held *heldLease) time.Duration {
	held.mu.Lock()
	defer held.mu.Unlock()
	return w.Clock.Since(held.renewed)
}

// stillOurs returns an error once the Lease is lost: then nothing may be changed. A Lease that
// should have been renewed by now, because the machine slept or the renewal hangs, counts only
// once the API server has confirmed that this run still holds it.
func (w *World) stillOurs(ctx context.Context) error {
	w.mu.Lock()
	held := w.lease
	w.mu.Unlock()
	if held == nil {
		return errors.New("no Lease was taken")
	}
	select {
	case <-held.stopped:
		return held.lost
	default:
	}
	if err := w.renew(ctx, held, leaseTrust); err != nil {
		return fmt.Errorf("verify that this run holds the Lease: %w", err)
	}
	return nil
}

// releaseLease empties the Lease, so that the next run need not wait for it to expire.
func (w *World) releaseLease(ctx context.Context) error {
	w.mu.Lock()
	held := w.lease
	w.lease = nil
	w.mu.Unlock()
	if held == nil {
		return nil
	}
	held.stop()
	<-held.stopped
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: w.Key.Namespace, Name: w.leaseName()}
	if err := w.Client.Get(ctx, key, lease); err != nil {
		return fmt.Errorf("release the Lease %s: %w", key.Name, err)
	}
	if ptr.Deref(lease.Spec.HolderIdentity, "") != w.Holder {
		return nil // another run took it over: nothing to release
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = nil, nil
	if err := w.Client.Update(ctx, lease); err != nil {
		return fmt.Errorf("release the Lease %s: %w", key.Name, err)
	}
	return nil
}
