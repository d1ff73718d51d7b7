package commands

import (
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
)

// watchFlags are those of --watch.
type watchFlags struct {
	watch       bool
	resync      time.Duration
	metricsAddr string
}

// leastWatchInterval keeps a watch from asking API server and database all the time.
const leastWatchInterval = time.Second

func (w *watchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&w.watch, "watch", "w", false, "If true, repeat passes at every change until a signal")
	flags.DurationVar(&w.resync, "resync", pace.DefaultResync, "maximum interval between passes with --watch")
	flags.StringVar(&w.metricsAddr, "metrics-addr", "", "address (HOST:PORT) of /metrics, /healthz and /readyz with --watch; port 0 selects a free port")
}

// checkWatch finds what is wrong with --watch and the flags that go with it.
func (o reconcileOptions) checkWatch() error {
	switch {
	case !o.watch && o.metricsAddr != "":
		return usagef("--metrics-addr needs --watch")
	case !o.watch:
		return nil
	case o.wait:
		return usagef("--wait ends when nothing is left to do, --watch does not end: choose one")
	case o.dry():
		return usagef("--dry-run looks once, --watch repeats: choose one")
	case o.timeout > 0:
		return usagef("--watch does not give up: --timeout is for --wait")
	case o.interval < leastWatchInterval:
		return usagef("--interval is at least %s with --watch", leastWatchInterval)
	case o.resync < o.interval:
		return usagef("--resync (%s) cannot be less than --interval (%s)", o.resync, o.interval)
	}
	return checkAddress(o.metricsAddr)
}

// checkAddress takes HOST:PORT with a number as the port, and nothing at all.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--metrics-addr is HOST:PORT or :PORT, not %q", address)
	}
	const bits = 16
	if _, err := strconv.ParseUint(port, 10, bits); err != nil {
		return usagef("--metrics-addr %s: the port is a number up to 65535", address)
	}
	return nil
}
