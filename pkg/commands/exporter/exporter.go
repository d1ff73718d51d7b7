// Package exporter is the command that prints or serves the metrics of a cluster without passes.
package exporter

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/metrics"
)

const (
	// defaultInterval is that of the PodMonitor: what is read more often is not scraped.
	defaultInterval = 30 * time.Second
	// minInterval bounds the load on the API server and the database.
	minInterval = time.Second
)

// options are the flags of the command.
type options struct {
	session.ClusterFlag

	env         *session.Env
	metricsAddr string
	interval    time.Duration
}

// New returns the command `metrics`.
func New(env *session.Env) *cobra.Command {
	o := options{env: env}
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Automation, Pages: []string{"observe.md#beside-an-operator"}, Endless: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "metrics [CLUSTER]",
		Short: "Print or serve the metrics of a cluster and its database",
		Long: `Print the metrics of a cluster and its database in the text format of Prometheus. With
--metrics-addr serve them until a signal: the cluster is read every --interval.

Nothing is changed and no Lease is taken, so it runs beside an operator. "reconcile --watch"
serves the same metrics, and those of its passes.

An unknown value is absent. While the cluster cannot be read, /metrics and /readyz return
the status 503 and the reason.`,
		Example: `  # Print the metrics
  kubectl fdb metrics sample-cluster

  # Serve them; manifests/observe/exporter.yaml does so in a Deployment
  kubectl fdb metrics sample-cluster --metrics-addr :8080`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	cmd.Flags().StringVar(&o.metricsAddr, "metrics-addr", "", "address (HOST:PORT) of /metrics, /healthz and /readyz; port 0 selects a free port; empty prints the metrics once")
	cmd.Flags().DurationVar(&o.interval, "interval", defaultInterval, "interval between reads with --metrics-addr, at least 1s")
	flags.AtLeast(cmd, "interval", minInterval)
	return cmd
}

func (o options) run(ctx context.Context, args []string) error {
	if err := session.CheckAddress("--metrics-addr", o.metricsAddr); err != nil {
		return err
	}
	cluster, err := o.env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	o.env.Run.About = key
	if o.metricsAddr != "" {
		return o.serve(ctx, key)
	}
	m, err := o.read(ctx, o.env, key)
	if err != nil {
		return err
	}
	return m.WriteText(o.env.Out)
}

// read reads the cluster once. A database that does not answer is a value, not an error.
func (o options) read(ctx context.Context, env *session.Env, key types.NamespacedName) (*metrics.Metrics, error) {
	defer o.env.Connection().CloseDirect() // each read has a connection of its own
	facts := plan.Database | plan.Coordination
	seen, err := session.ClusterReader{Env: env, Key: key, Asks: facts}.Read(ctx)
	if err != nil {
		return nil, err
	}
	m := metrics.NewObserved(key.Name, key.Namespace, o.env.Clock.Now)
	m.OperationsFrom(func() inspect.Lease { return seen.Lease })
	m.Report(reconcile.Observed{Facets: plan.ClusterResource | facts, Snapshot: seen.Snapshot})
	return m, nil
}

// serve reads the cluster until a signal, or until the cluster is deleted.
func (o options) serve(ctx context.Context, key types.NamespacedName) error {
	page := metrics.NewPage(o.env.Clock.Now, o.interval)
	address, stop, err := metrics.Serve(ctx, o.metricsAddr, page.Handler())
	if err != nil {
		return exit.Usage(err, "set another address with --metrics-addr")
	}
	defer stop()
	o.env.Logf("metrics on http://%s/metrics", address)
	reported := session.NewReported()
	quiet := o.env.Beside(io.Discard) // progress of each read is no news
	for {
		m, err := o.read(ctx, quiet, key)
		switch {
		case ctx.Err() != nil:
			return ended(ctx)
		case isDeleted(err):
			o.env.Logf("%s was deleted", key.Name)
			return nil
		case err != nil:
			page.Fail(exit.Explain(err))
			if reported.Due(plan.ClusterResource, o.env.Clock.Now()) {
				o.env.Logf("%s cannot be read, will retry every %s: %s", key.Name, o.interval, exit.Explain(err))
			}
		default:
			page.Set(m)
		}
		if err := o.pause(ctx); err != nil {
			return ended(ctx)
		}
	}
}

func (o options) pause(ctx context.Context) error {
	timer := o.env.Clock.NewTimer(o.interval)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isDeleted reports whether a read failed because the cluster does not exist anymore.
func isDeleted(err error) bool {
	_, missing := errors.AsType[*live.NotFoundError](err)
	return missing
}

// ended is no error after SIGTERM, with which Kubernetes ends a pod.
func ended(ctx context.Context) error {
	cause := exit.CauseOf(ctx, ctx.Err())
	if interrupted, is := errors.AsType[*exit.InterruptedError](cause); is && interrupted.Signal == syscall.SIGTERM {
		return nil
	}
	return cause
}
