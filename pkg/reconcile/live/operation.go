package live

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// AnnotationOperation of a Lease is the operation whose passes take it, as JSON; see
// reconcile.Operation.
const AnnotationOperation = "kubectl-fdb/operation"

// OperationOf returns the operation that a Lease names; nil for none, or one that cannot be read.
func OperationOf(lease *coordinationv1.Lease) *reconcile.Operation {
	text, has := lease.Annotations[AnnotationOperation]
	o := &reconcile.Operation{}
	if !has || json.Unmarshal([]byte(text), o) != nil || o.Holder == "" {
		return nil
	}
	return o
}

// SetOperation implements reconcile.OperationKeeper.
func (w *World) SetOperation(o reconcile.Operation) { w.leases.setOperation(o) }

// RenewOperation implements reconcile.OperationKeeper.
func (w *World) RenewOperation(ctx context.Context) error {
	return w.leases.editOperation(ctx, func(lease *coordinationv1.Lease, own reconcile.Operation) bool {
		now := w.Clock.Now()
		if now.Sub(own.Seen) < reconcile.OperationRenewal {
			return false
		}
		own.Seen = now
		store(lease, own)
		return true
	})
}

// EndOperation implements reconcile.OperationKeeper.
func (w *World) EndOperation(ctx context.Context) error {
	defer w.leases.setOperation(reconcile.Operation{})
	return w.leases.editOperation(ctx, func(lease *coordinationv1.Lease, _ reconcile.Operation) bool {
		delete(lease.Annotations, AnnotationOperation)
		return true
	})
}

func (l *leaseKeeper) setOperation(o reconcile.Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.operation, l.stored = o, time.Time{}
}

// noteOperation stores the operation with a Lease that is claimed, unless another one is active: the
// first one is shown. It is reported, once.
func (l *leaseKeeper) noteOperation(lease *coordinationv1.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Clock.Now()
	if other := OperationOf(lease); other != nil && other.Holder != l.Holder && other.IsActive(now) {
		if l.Tell != nil && !l.reported {
			l.reported = true
			l.Tell(fmt.Sprintf("another run changes it too: %s, by %s, since %s", other.Command, other.Holder, other.Since.UTC().Format(time.RFC3339)))
		}
		return
	}
	if l.operation.Holder == "" {
		delete(lease.Annotations, AnnotationOperation) // of a run that ended without removing it, or of none
		return
	}
	l.operation.Seen, l.stored = now, now
	store(lease, l.operation)
}

func store(lease *coordinationv1.Lease, o reconcile.Operation) {
	text, err := json.Marshal(o)
	if err == nil { // it has strings and times only
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationOperation, string(text))
	}
}

// editOperation edits the stored operation of this run, where there is one and it is due. A conflict
// is another run's change of the Lease, and no error: the next edit sees it.
func (l *leaseKeeper) editOperation(ctx context.Context, edit func(*coordinationv1.Lease, reconcile.Operation) bool) error {
	l.mu.Lock()
	stored := l.stored
	l.mu.Unlock()
	if stored.IsZero() {
		return nil
	}
	lease := &coordinationv1.Lease{}
	err := l.Client.Get(ctx, types.NamespacedName{Namespace: l.Key.Namespace, Name: l.leaseName()}, lease)
	if err != nil {
		return fmt.Errorf("read the Lease %s: %w", l.leaseName(), err)
	}
	own := OperationOf(lease)
	if own == nil || own.Holder != l.Holder || !edit(lease, *own) {
		return nil
	}
	if err := l.Client.Update(ctx, lease); err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("write the operation to the Lease %s: %w", lease.Name, err)
	}
	return nil
}
