package apply

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Telemetry counts what a watch does, and serves that.
type Telemetry interface {
	// Report counts an event.
	Report(e reconcile.Event)
	// Beat is a sign of life.
	Beat(now time.Time)
	// Wait announces a wait that ends at a time, after a pass that did not fail.
	Wait(until time.Time)
	// RestAfterFailure announces a wait that ends at a time, after a pass that failed.
	RestAfterFailure(until time.Time)
	// OperationsFrom adds the operation that a Lease records.
	OperationsFrom(read func() inspect.Lease)
	// CountDumps adds dumps, and returns what notes one that was written, with the size of all, and one that could not be.
	CountDumps() (written func(at time.Time, bytes int64), failed func())
	// Serve answers at an address until stop is called. It returns the address that was taken.
	Serve(ctx context.Context, address string) (taken string, stop func(), err error)
}

// NewTelemetry returns the telemetry of a watch over a cluster. Now returns the time.
type NewTelemetry func(key types.NamespacedName, now func() time.Time) Telemetry

// WatchFlags are the flags of --watch.
type WatchFlags struct {
	// Telemetry is set by the command.
	Telemetry NewTelemetry

	Watch       bool
	Resync      time.Duration
	MetricsAddr string
	// Dumps are the dumps that a watch writes.
	Dumps DumpFlags
}

// CheckWatch validates --watch and the flags that go with it.
func (o ReconcileOptions) CheckWatch() error {
	switch {
	case !o.Watch && o.MetricsAddr != "":
		return exit.Usagef("--metrics-addr requires --watch")
	case !o.Watch && o.Dumps.changed():
		return exit.Usagef("--dump-dir requires --watch")
	case !o.Watch:
		return nil
	case o.Wait:
		return exit.Usagef("--wait conflicts with --watch")
	case o.dry():
		return exit.Usagef("--dry-run conflicts with --watch")
	case o.Timeout > 0:
		return exit.Usagef("--timeout conflicts with --watch")
	case o.Resync < o.Interval:
		return exit.Usagef("--resync (%s) must not be less than --interval (%s)", o.Resync, o.Interval)
	}
	if err := o.Dumps.check(); err != nil {
		return err
	}
	return session.CheckAddress("--metrics-addr", o.MetricsAddr)
}
