package apply

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// WatchFlags are the flags of --watch.
type WatchFlags struct {
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
