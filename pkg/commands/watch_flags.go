package commands

import (
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
)

// watchFlags are the flags of --watch.
type watchFlags struct {
	watch       bool
	resync      time.Duration
	metricsAddr string
}

// leastWatchInterval bounds the load of a watch on API server and database.
const leastWatchInterval = time.Second

func (w *watchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&w.watch, "watch", "w", false, "If true, repeat passes at every change until a signal")
	flags.DurationVar(&w.resync, "resync", pace.DefaultResync, "maximum interval between passes with --watch")
	flags.StringVar(&w.metricsAddr, "metrics-addr", "", "address (HOST:PORT) of /metrics, /healthz and /readyz with --watch; port 0 selects a free port")
}

// checkWatch validates --watch and the flags that go with it.
func (o reconcileOptions) checkWatch() error {
	switch {
	case !o.watch && o.metricsAddr != "":
		return usagef("--metrics-addr requires --watch")
	case !o.watch:
		return nil
	case o.wait:
		return usagef("--wait conflicts with --watch")
	case o.dry():
		return usagef("--dry-run conflicts with --watch")
	case o.timeout > 0:
		return usagef("--timeout conflicts with --watch")
	case o.interval < leastWatchInterval:
		return usagef("--interval must be at least %s with --watch", leastWatchInterval)
	case o.resync < o.interval:
		return usagef("--resync (%s) must not be less than --interval (%s)", o.resync, o.interval)
	}
	return checkAddress(o.metricsAddr)
}

// checkAddress accepts HOST:PORT with a numeric port, and the empty string.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--metrics-addr must be HOST:PORT or :PORT, not %q", address)
	}
	const bits = 16
	if _, err := strconv.ParseUint(port, 10, bits); err != nil {
		return usagef("--metrics-addr %s: the port must be a number up to 65535", address)
	}
	return nil
}
