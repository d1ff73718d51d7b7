package reconcile

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// NewPlan returns the command `plan`.
func NewPlan(env *session.Env) *cobra.Command {
	var o apply.PlanOptions
	cmd := session.Declare(session.Declaration{
		Effect: session.EffectReads, Group: session.Management, Pages: []string{"reconcile.md#plan"}, Dumps: true,
		Needs: func() []session.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.FirstVolumes(), cmdutil.Optional("the disruption budget is unknown", session.BudgetPermissions()[0]))
		},
	}, &cobra.Command{
		Use:     "plan [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Aliases: []string{"diff"},
		Short:   "Preview a reconcile pass, and forecast those after it",
		Long: `Preview the actions of a reconcile pass, with their reasons. Nothing is changed.

The forecast shows what all passes will do until nothing is left: it runs them against a
simulation of the observed cluster, in which nothing else fails.

The output of -o json can be approved and applied: reconcile --plan FILE executes the
actions of the file and nothing else, and fails if the cluster state has changed since.

Exit code 0: nothing to do. 1: something to do. 2 and more: see docs/exit-codes.md.`,
		Example: `  # Preview a pass
  kubectl fdb plan sample-cluster

  # In CI: save the plan, and check whether the cluster differs from its spec
  kubectl fdb plan sample-cluster -o json > plan.json

  # Apply the plan after its approval
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # Simulate 20 runs with random failures of processes, pods and nodes
  kubectl fdb plan sample-cluster --simulate 20

  # Preview a pass over a backup
  kubectl fdb plan fdbbackup/sample-backup`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.Completion().FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return RunPlan(cmd.Context(), o, env, args)
		},
	})
	o.ClusterFlag.Add(cmd, env)
	o.StageFlags.Add(cmd)
	cmd.Flags().BoolVar(&o.Coexist, "coexist", false, "If true, plan a pass with --coexist, which acts although an operator manages the cluster")
	cmd.Flags().BoolVar(&o.WithBackups, "with-backups", false, "If true, also plan for all backups of the cluster, then for all restores into it")
	cmd.Flags().BoolVar(&o.Forecast, "forecast", true, "If true, forecast all passes of a cluster until nothing is left to do")
	cmd.Flags().IntVar(&o.Simulate, "simulate", 0, "number of simulations of all passes in which processes, pods and nodes fail at random")
	o.Flags.Add(cmd)
	return cmd
}

// maxSimulations bounds --simulate.
const maxSimulations = 1000

// RunPlan prints the plan of a pass.
func RunPlan(ctx context.Context, o apply.PlanOptions, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Simulate < 0 || o.Simulate > maxSimulations {
		return exit.Usagef("--simulate must be from 0 to %d, not %d", maxSimulations, o.Simulate)
	}
	if kind, name := session.ResourceKindOf(args); kind != nil && o.WithBackups {
		return exit.Usagef("--with-backups requires a cluster: it includes %s/%s", kind.Short, name)
	} else if kind != nil {
		return runOn(ctx, o, env, kind, name)
	}
	requested := apply.ReconcileOptions{StageFlags: o.StageFlags, WithBackups: o.WithBackups, ChangeFlags: apply.ChangeFlags{Coexist: o.Coexist}}
	if err := requested.CheckTogether(); err != nil {
		return err
	}
	selected, err := o.Stages()
	if err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return err
	}
	if err := apply.MayCarryOut(env, cluster, selected); err != nil {
		return err
	}
	if o.WithBackups {
		return apply.PlanTogether(ctx, env, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, requested, o)
	}
	return preview(ctx, o, env, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, nil, selected)
}

// runOn plans a pass over a backup or a restore.
func runOn(ctx context.Context, o apply.PlanOptions, env *session.Env, kind *session.ResourceKind, name string) error {
	selected, err := o.StagesOn(kind, name, o.Name)
	if err != nil {
		return err
	}
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if err := kind.MustExist(ctx, env, key); err != nil {
		return err
	}
	return preview(ctx, o, env, key, kind, selected)
}

// preview prints what a pass over one resource would do; kind is nil for a cluster.
func preview(ctx context.Context, o apply.PlanOptions, env *session.Env, key types.NamespacedName, kind *session.ResourceKind, selected []plan.Stage) error {
	r := apply.Run{
		Env: env, StageList: selected, Seed: env.Random(), Gates: live.GateOptions{Coexist: o.Coexist},
		Command: command(o, kind.Named(key).Name), ResourceKind: kind, NoForecast: !o.Forecast,
	}
	if err := r.Open(ctx, key); err != nil {
		return err
	}
	return r.ShowPlan(ctx, o)
}

// command returns the command that carries out the plan.
func command(o apply.PlanOptions, cluster string) []string {
	r := apply.ReconcileOptions{StageFlags: o.StageFlags, ChangeFlags: apply.ChangeFlags{Coexist: o.Coexist}}
	return apply.Change{ChangeFlags: r.ChangeFlags, Args: r.Args(cluster)}.Command()
}
