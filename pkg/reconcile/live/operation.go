package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live/holder"
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

// AnnotationAbort of a Lease is the request to end its operation, as JSON; see
// reconcile.OperationAbort.
const AnnotationAbort = "kubectl-fdb/operation-abort"

// IsOperationActive reports whether the run of an operation goes on: it has reported so recently, and
// is no process of this machine that has ended.
func IsOperationActive(o reconcile.Operation, now time.Time) bool {
	return o.IsActive(now) && !holder.Ended(o.Holder)
}

// Operations implements reconcile.Operator.
func (w *Cluster) Operations() reconcile.OperationKeeper { return operationKeeper{w.leases} }

// operationKeeper keeps the operation of a run with its Lease.
type operationKeeper struct{ *leaseKeeper }

// OtherOperation implements reconcile.OperationKeeper.
func (l operationKeeper) OtherOperation(ctx context.Context) (*reconcile.Operation, error) {
	lease, err := l.readLease(ctx)
	if err != nil || lease == nil {
		return nil, err
	}
	return l.otherOperation(lease), nil
}

// RefuseBesideOthers implements reconcile.OperationKeeper.
func (l operationKeeper) RefuseBesideOthers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuses = true
}

// SetOperation implements reconcile.OperationKeeper.
func (l operationKeeper) SetOperation(o reconcile.Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.operation, l.stored = o, time.Time{}
}

// RenewOperation implements reconcile.OperationKeeper.
func (l operationKeeper) RenewOperation(ctx context.Context, p reconcile.OperationProgress) error {
	l.mu.Lock()
	l.operation.Progress = p
	held := l.held != nil
	l.mu.Unlock()
	if held {
		return nil // its renewals store it, and would conflict with another write
	}
	return l.editOperation(ctx, func(lease *coordinationv1.Lease, own reconcile.Operation) bool {
		now := l.Clock.Now()
		if now.Sub(own.Seen) < reconcile.OperationRenewal && own.Progress.Equal(p) {
			return false
		}
		own.Seen, own.Progress = now, p
		store(lease, own)
		return true
	})
}

// KeepOperation implements reconcile.OperationKeeper.
func (l operationKeeper) KeepOperation(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.current() != nil {
		return nil // the renewals of the Lease store it
	}
	l.mu.Lock()
	progress := l.operation.Progress
	l.mu.Unlock()
	return l.RenewOperation(ctx, progress)
}

// AbortRequest implements reconcile.OperationKeeper.
func (l operationKeeper) AbortRequest(ctx context.Context) (*reconcile.OperationAbort, error) {
	lease, err := l.readLease(ctx)
	if err != nil || lease == nil {
		return nil, err
	}
	own, abort := OperationOf(lease), AbortOf(lease)
	if own == nil || abort == nil || own.Holder != l.Holder || own.ID != abort.ID {
		return nil, nil
	}
	return abort, nil
}

// EndOperation implements reconcile.OperationKeeper.
func (l operationKeeper) EndOperation(ctx context.Context) error {
	defer l.SetOperation(reconcile.Operation{})
	return l.editOperation(ctx, func(lease *coordinationv1.Lease, _ reconcile.Operation) bool {
		forget(lease)
		return true
	})
}

// AbortOf returns the request to end an operation that a Lease has; nil for none, or one that cannot
// be read.
func AbortOf(lease *coordinationv1.Lease) *reconcile.OperationAbort {
	text, has := lease.Annotations[AnnotationAbort]
	abort := &reconcile.OperationAbort{}
	if !has || json.Unmarshal([]byte(text), abort) != nil || abort.ID == "" {
		return nil
	}
	return abort
}

// RequestAbort stores a request to end an operation with its Lease. It fails where the Lease has
// another operation by now.
func RequestAbort(ctx context.Context, c client.Client, key types.NamespacedName, request reconcile.OperationAbort) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		lease := &coordinationv1.Lease{}
		if err := c.Get(ctx, key, lease); err != nil {
			return fmt.Errorf("read the Lease %s: %w", key.Name, err)
		}
		if o := OperationOf(lease); o == nil || o.ID != request.ID {
			return ErrOperationEnded
		}
		text, err := json.Marshal(request)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationAbort, string(text))
		return c.Update(ctx, lease)
	})
}

// ErrOperationEnded means that a Lease does not have the operation any more.
var ErrOperationEnded = errors.New("the operation has ended")

// otherOperation returns the active operation of another run that a Lease has; nil for none.
func (l *leaseKeeper) otherOperation(lease *coordinationv1.Lease) *reconcile.Operation {
	o := OperationOf(lease)
	if o == nil || o.Holder == l.Holder || !IsOperationActive(*o, l.Clock.Now()) {
		return nil
	}
	if own := l.known.leaseUID(); o.UID != "" && own != "" && o.UID != own {
		return nil // of another resource of this name
	}
	return o
}

// mayChangeBeside returns an error where another run's operation is active, and this run neither is one
// that ignores others nor was joined to it.
func (l *leaseKeeper) mayChangeBeside(lease *coordinationv1.Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.otherOperation(lease); o != nil && l.refuses {
		return &reconcile.ActiveOperationError{Operation: *o}
	}
	return nil
}

// noteOperation stores the operation with a Lease that is claimed, unless another one is active: the
// first one is shown. It is reported, once.
func (l *leaseKeeper) noteOperation(lease *coordinationv1.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.otherOperation(lease); other != nil {
		if l.Report != nil && !l.reported {
			l.reported = true
			l.Report("another run changes it too: " + other.Text() + ", since " + other.Since.UTC().Format(time.RFC3339))
		}
		return
	}
	if l.operation.Holder == "" {
		forget(lease) // the operation of a run that ended without removing it, or none
		return
	}
	now := l.Clock.Now()
	l.operation.Seen, l.stored = now, now
	l.operation.UID = l.known.leaseUID()
	if abort := AbortOf(lease); abort != nil && abort.ID != l.operation.ID {
		delete(lease.Annotations, AnnotationAbort)
	}
	store(lease, l.operation)
}

// forget removes an operation from its Lease.
func forget(lease *coordinationv1.Lease) {
	delete(lease.Annotations, AnnotationOperation)
	delete(lease.Annotations, AnnotationAbort)
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
	lease, err := l.readLease(ctx)
	if err != nil || lease == nil {
		return err
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

// readLease reads the Lease; nil if there is none.
func (l *leaseKeeper) readLease(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := l.Client.Get(ctx, types.NamespacedName{Namespace: l.Key.Namespace, Name: l.leaseName()}, lease)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the Lease %s: %w", l.leaseName(), err)
	default:
		return lease, nil
	}
}
