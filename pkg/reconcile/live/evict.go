package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// evictionRetry is when a refused eviction is tried again. A budget opens when another pod is
// ready.
const evictionRetry = 10 * time.Second

// evict deletes the pod with this name and UID by the eviction API, so that the API server asks
// disruption budgets and webhooks. A pod that is already deleted is a success.
func (w *objectWriter) evict(ctx context.Context, name string, uid types.UID) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: name}}
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	}
	err := w.Client.SubResource("eviction").Create(ctx, pod, eviction)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case apierrors.IsTooManyRequests(err):
		hold := &plan.Hold{
			Code: plan.HoldEvictionRefused, RetryAfter: evictionRetry,
			Reason: "pod " + name + " may not be evicted", Detail: refusalOf(err),
		}
		return &reconcile.NotYetError{Err: fmt.Errorf("%s: %s", hold.Reason, hold.Detail), Hold: hold}
	case outcomeUnknown(err):
		return fmt.Errorf("evict pod %s: the outcome is unknown: %w", name, err)
	default:
		return fmt.Errorf("evict pod %s: %w", name, err)
	}
}

// refusalOf returns why an eviction was refused. The API server names the budget in the cause; a
// webhook has only a message.
func refusalOf(err error) string {
	cause, found := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
	if found && cause.Message != "" {
		return cause.Message
	}
	return err.Error()
}

// outcomeUnknown reports whether a request may have had its effect although it failed: the answer
// of the API server did not come, or was that it gave up.
func outcomeUnknown(err error) bool {
	var answered apierrors.APIStatus
	return !errors.As(err, &answered) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}
