package metrics

import (
	"context"
	"time"
)

// Watch is what a watch counts, and whether it is alive.
type Watch struct {
	*Metrics
	*Liveness
}

// NewWatch makes the metrics of a watch over the cluster of that name and namespace. Now returns the time.
func NewWatch(cluster, clusterNamespace string, now func() time.Time) Watch {
	return Watch{New(cluster, clusterNamespace, now), &Liveness{}}
}

// CountDumps adds the metrics of dumps, and returns what notes one that was written, with the size of all, and one that
// could not be.
func (w Watch) CountDumps() (written func(at time.Time, bytes int64), failed func()) {
	d := w.Dumps()
	return d.Written, d.Failed
}

// Serve answers /metrics, /healthz and /readyz at an address until stop is called. It returns the address that was taken.
func (w Watch) Serve(ctx context.Context, address string) (taken string, stop func(), err error) {
	listening, stop, err := Serve(ctx, address, Handler(w.Metrics, w.Liveness))
	if err != nil {
		return "", nil, err
	}
	return listening.String(), stop, nil
}
