package session

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// retryPauses are the pauses before a read is repeated that the API server answered with an error of its own and without
// the header Retry-After; with it client-go repeats the request itself. They end within half of exit.RequestTimeout.
var retryPauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// retryingReads repeats reads. It never repeats a write: one that was answered with an error may have been carried out.
type retryingReads struct {
	client.Client
	clock clock.Clock
}

// Get implements client.Reader.
func (r retryingReads) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return r.repeat(ctx, func() error { return r.Client.Get(ctx, key, o, options...) })
}

// List implements client.Reader.
func (r retryingReads) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.repeat(ctx, func() error { return r.Client.List(ctx, list, options...) })
}

// repeat reads until there is an answer, another kind of error, or no pause left.
func (r retryingReads) repeat(ctx context.Context, read func() error) error {
	began := r.clock.Now()
	err := read()
	for n, pause := range retryPauses {
		if !isTemporary(err) {
			return err
		}
		timer := r.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C():
		}
		if err = read(); n == len(retryPauses)-1 && isTemporary(err) {
			return fmt.Errorf("no answer after %s in %s: %w", phrase.Count(n+2, "attempt"), r.clock.Since(began).Round(time.Second), err)
		}
	}
	return err
}

// isTemporary reports whether an API server, or what is in front of it, answered that it cannot answer now.
func isTemporary(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || apierrors.IsInternalError(err)
}
