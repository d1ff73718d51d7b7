package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// NewPlan returns the command `plan`.
func NewPlan(env *session.Env) *cobra.Command {
	var (
		o     apply.ReconcileOptions
		shows apply.PlanOptions
		f     proposedFlags
		over  sites.Flags
		limit string
	)
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Management, Pages: []string{"plan.md"}, Dumps: true,
		Needs: planNeeds, With: cmdutil.OverSites(planNeeds),
	}, &cobra.Command{
		Use:     "plan [CLUSTER | fdbbackup/NAME | fdbrestore/NAME]",
		Aliases: []string{"diff"},
		Short:   "Preview a reconcile pass, and forecast those after it",
		Long: `Preview the actions of a reconcile pass, with their reasons: the same as reconcile
--dry-run. Nothing is changed.

The forecast shows what all passes will do until nothing is left: it runs them against a
simulation of the observed cluster, in which nothing else fails.

With -f, -k, --set or --unset it is the plan of a change that nothing has stored yet: the
API server reports in a dry run what it would store.

With --contexts or --sites it is a plan of the next pass at each site of a database with
resources in several Kubernetes clusters, in the order of the sites, with what they have in
common. Each is planned as if no other site changed anything before it, and nothing is
decided about a site that cannot be read.

The output of -o json can be approved and applied: reconcile --plan FILE executes the
actions of the file and nothing else, and fails if the cluster state has changed since.

With --simulate all, each step meets each fault once, as a lost node or a killed run, in a
simulation of its own, and rules of safety are checked there after each action.

Exit code 0: nothing to do. 1: something to do. 4: blocked, more than --at-most allows, or a
rule of safety broken in a simulation.
2 and more: see docs/exit-codes.md.`,
		Example: `  # Preview a pass
  kubectl fdb plan sample-cluster

  # Preview an upgrade before it is stored
  kubectl fdb plan sample-cluster --set version=7.3.80

  # In a pull request: fail if the change costs more than two recoveries
  kubectl fdb plan sample-cluster --set processCounts.storage=5 --at-most recoveries=2

  # In CI: save the plan, and check whether the cluster differs from its spec
  kubectl fdb plan sample-cluster -o json > plan.json

  # Apply the plan after its approval
  kubectl fdb reconcile sample-cluster --plan plan.json --yes

  # Simulate 20 runs with random failures of processes, pods and nodes
  kubectl fdb plan sample-cluster --simulate 20

  # Simulate each single fault at each step of an upgrade
  kubectl fdb plan sample-cluster --set version=7.3.80 --simulate all

  # Preview the next pass at each site of a database in three Kubernetes clusters
  kubectl fdb plan --contexts dc1,dc2,dc3

  # Preview a pass over a backup
  kubectl fdb plan fdbbackup/sample-backup`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at-most") {
				var err error
				if shows.AtMost, err = planned.ParseLimits(limit); err != nil {
					return exit.Usage(fmt.Errorf("invalid --at-most: %w", err))
				}
			}
			kind, _ := session.ResourceKindOf(args)
			named, err := over.Sites(env, sites.Scope{Other: f.given() || o.WithBackups || kind != nil, Words: "-f, -k, --set, --unset and --with-backups, and with names of backups and restores"})
			if err != nil {
				return err
			}
			return runPlan(cmd.Context(), f, o, shows, env, args, named)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Sites(cmd, &over, env)
	flags.Stages(cmd, &o.StageFlags)
	cmd.Flags().BoolVar(&o.Coexist, "coexist", false, "If true, plan a pass with --coexist, which acts although an operator manages the cluster")
	cmd.Flags().BoolVar(&o.WithBackups, "with-backups", false, "If true, also plan for all backups of the cluster, then for all restores into it")
	cmd.Flags().BoolVar(&shows.Forecast, "forecast", true, "If true, forecast all passes of a cluster until nothing is left to do")
	cmd.Flags().Var(&simulateFlag{&shows}, "simulate", "number of simulations of all passes in which processes, pods and nodes fail at random; or all, for one simulation of each fault at each step")
	complete.Flag(cmd, "simulate", func() []string { return []string{simulateAll} })
	cmd.Flags().StringVar(&limit, "at-most", "", "limits of the totals of the forecast, above which the exit code is 4, such as recoveries=2,movedBytes=100Gi,groupsRemoved=0,seconds=1h; an unknown total counts as exceeded")
	flags.Output(cmd, &shows.Flags)
	f.add(cmd, "to plan as if it were stored")
	cmd.Flags().BoolVar(&shows.Prune, "prune", false, "If true, also print what the deletion of resources would do that the namespaces have and the directory of -f or -k does not")
	return cmd
}

func planNeeds() []declare.Requirement {
	return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.FirstVolumes(), cmdutil.Optional("the disruption budget is unknown", session.BudgetPermissions()[0]))
}

// runPlan is a dry run of reconcile.
func runPlan(ctx context.Context, f proposedFlags, o apply.ReconcileOptions, shows apply.PlanOptions, env *session.Env, args []string, named []sites.Site) error {
	if err := shows.Check(); err != nil {
		return err
	}
	if len(shows.AtMost) > 0 && !shows.Forecast {
		return exit.Usagef("--at-most requires --forecast")
	}
	if err := f.check(); err != nil {
		return err
	}
	if shows.Prune && (f.files.Kustomization == "" && !f.files.Directory() || len(args) > 0 || o.Name != "") {
		return exit.Usagef("--prune requires -f DIRECTORY or -k, and conflicts with a name: all other resources would count as removed")
	}
	switch {
	case len(named) > 0:
		return planSites(ctx, o.Planned(shows), shows, env, named, args)
	case f.given():
		return carryOutProposed(ctx, f, o.Planned(shows), env, args)
	}
	return run(ctx, o.Planned(shows), env, args)
}
