package commands

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// reconcileOptions is what `kubectl fdb reconcile` was asked to do.
type reconcileOptions struct {
	clusterFlag
	stepFlags
	dryRun  string
	yes     bool
	coexist bool
	wait    bool
	watchFlags
	timeout  time.Duration
	interval time.Duration
	output   string
	reason   string
	overrideFlags
}

func newReconcile(env *Env) *cobra.Command {
	var o reconcileOptions
	cmd := &cobra.Command{
		Use:   "reconcile [CLUSTER]",
		Short: "Bring a cluster closer to what its resource asks for",
		Long: `Run a reconcile pass: observe the cluster, decide step by step what it needs, and do it.

A pass does what can be done now and says what it waits for. It shows what it is going
to do and asks first; --yes answers. With --wait, passes are repeated until nothing is
left to do; with --watch for ever, as changes come. Ctrl-C finishes the current action
and gives back what was locked; the same command again goes on from there.`,
		Example: `  # Look, agree, and run one pass
  kubectl fdb reconcile sample-cluster

  # Create a cluster and wait until it is up
  kubectl fdb reconcile sample-cluster --yes --wait --timeout 10m

  # Keep it as its resource asks, as a controller does
  kubectl fdb reconcile sample-cluster --yes --watch --metrics-addr 127.0.0.1:8080

  # See what a pass would do
  kubectl fdb reconcile sample-cluster --dry-run`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("interval") && !o.wait && !o.watch {
				return usagef("--interval needs --wait or --watch")
			}
			if cmd.Flags().Changed("resync") && !o.watch {
				return usagef("--resync needs --watch")
			}
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.stepFlags.add(cmd)
	o.overrideFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.dryRun, "dry-run", "none", "client: show what a pass would do and change nothing, as plan does; none: do it")
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&o.coexist, "coexist", false, "act even though an operator manages the cluster")
	flags.BoolVar(&o.wait, "wait", false, "repeat passes until nothing is left to do")
	o.watchFlags.add(cmd)
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, with exit code 3; 0 is never")
	flags.DurationVar(&o.interval, "interval", pace.DefaultInterval, "with --wait and --watch, how long to rest between passes at least")
	flags.StringVarP(&o.output, "output", "o", "text", "text or json")
	flags.StringVar(&o.reason, "reason", "", "why, for others who meet the Lease of this run")
	complete(cmd, "output", func() []string { return []string{"text", "json"} })
	complete(cmd, "dry-run", func() []string { return []string{"client", "none"} })
	return cmd
}

func (o reconcileOptions) run(ctx context.Context, env *Env, args []string) error {
	steps, err := o.check(env)
	if err != nil {
		return err
	}
	if env.Overrides, err = o.gates(); err != nil {
		return err
	}
	if o.dryRun == "client" {
		return planOptions{clusterFlag: o.clusterFlag, stepFlags: o.stepFlags, coexist: o.coexist, output: o.planOutput()}.run(ctx, env, args)
	}
	record, err := env.cluster(ctx, args, o.name, writes)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	if err := env.mayDo(ctx, key.Namespace, o.powers()); err != nil {
		return err
	}
	if o.reason != "" {
		env.Holder += " (" + o.reason + ")"
	}
	passes := passes{
		run:     run{env: env, steps: steps, seed: env.Random(), gates: live.GateOptions{Coexist: o.coexist}},
		options: o, approved: approval{everything: o.yes},
	}
	if err := passes.open(ctx, key); err != nil {
		return err
	}
	if o.watch {
		return passes.watch(ctx)
	}
	return passes.all(ctx)
}

// powers are what the command has to be allowed to do.
func (o reconcileOptions) powers() []power {
	if o.watch {
		return append(reconcilePowers(), watchPowers()...)
	}
	return reconcilePowers()
}

// check finds what is wrong with the flags before anything is read.
func (o reconcileOptions) check(env *Env) ([]plan.Stage, error) {
	if err := o.checkWatch(); err != nil {
		return nil, err
	}
	switch {
	case o.output != "text" && o.output != "table" && o.output != "json":
		return nil, usagef("-o is text or json, not %q", o.output)
	case o.dryRun != "client" && o.dryRun != "none":
		return nil, usagef("--dry-run is client or none, not %q", o.dryRun)
	case o.dryRun == "client" && o.wait:
		return nil, usagef("--dry-run looks once, --wait repeats: choose one")
	case o.timeout < 0 || o.interval < 0:
		return nil, usagef("--timeout and --interval cannot be negative")
	case o.dryRun == "none" && !o.yes && !env.IsTerminal(env.In):
		return nil, &failure{
			code: ExitUnconfirmed, err: errors.New("nobody can be asked without a terminal; nothing was changed"),
			hints: []string{"add --yes to agree beforehand, or look first with --dry-run"},
		}
	}
	return o.steps()
}

func (o reconcileOptions) planOutput() string {
	if o.output == "json" {
		return "json"
	}
	return "table"
}
