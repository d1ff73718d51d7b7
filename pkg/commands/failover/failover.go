// Package failover holds the command that makes another region of a database primary.
package failover

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// failoverOptions are the options of `kubectl fdb failover`.
type failoverOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	to           string
	setElsewhere bool
}

// New returns the command `failover`.
func New(env *session.Env) *cobra.Command {
	var o failoverOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"regions.md#fail-over"},
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Reconciling(), cmdutil.Required(session.FailoverPermissions()...))
		},
	}, &cobra.Command{
		Use:   "failover [CLUSTER] --to DATACENTER",
		Short: "Change the primary region of a database",
		Long: `Make another region of a database primary: exchange the priorities of its main data center
and of the one with the highest priority, in spec.databaseConfiguration.regions of every
FoundationDBCluster of the database in the namespace, and configure the database. Nothing
else of a spec is changed. The same command with the former data center is the way back.

It requires that the primary region serves, that the other one has a full copy of the data
and lags little, and that the regions of all resources and of the database agree. The
database switches once the other region has everything that was committed, so that nothing
is lost; commits pause for some seconds.

If the primary region is lost and the other one has a priority of 0 or more, the database
fails over without a command. This command is refused then, and what may be lost is
printed.

Resources of the database in other namespaces or Kubernetes clusters are not changed: set
their priorities first, and then use --set-elsewhere.`,
		Example: `  # Preview the failover
  kubectl fdb failover sample-cluster --to dc2 --dry-run

  # Make the region of dc2 primary, and wait for it
  kubectl fdb failover sample-cluster --to dc2 --yes --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Change(cmd, &o.ChangeFlags, "the region is primary")
	cmd.Flags().StringVar(&o.to, "to", "", "main data center of the region to make primary")
	cmd.Flags().BoolVar(&o.setElsewhere, "set-elsewhere", false, "If true, resources in other namespaces and Kubernetes clusters have these priorities already")
	complete.FlagWith(cmd, "to", func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
		if err != nil {
			return nil
		}
		return mainDataCenters(cluster)
	})
	return cmd
}

// mainDataCenters returns the main data centers of the regions in a spec.
func mainDataCenters(c *session.Cluster) (ids []string) {
	for _, r := range objects.DesiredConfiguration(c).Regions {
		if main, ok := r.Main(); ok {
			ids = append(ids, main.ID)
		}
	}
	return ids
}

func (o failoverOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if o.to == "" {
		return exit.Usage(errors.New("--to is required: the main data center of the region to make primary"))
	}
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	undo, err := o.undo(ctx, env, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	words := []string{"failover", key.Name, "--to", o.to}
	if o.setElsewhere {
		words = append(words, "--set-elsewhere")
	}
	to := operations.PrimaryRegion{DataCenter: o.to, SetElsewhere: o.setElsewhere}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.FailoverPermissions(), Goal: primaryRegion(o.to), Args: words, Undo: undo,
		Stages: stages.Marking(operations.SetPrimaryRegion(to), clusterstages.UpdateDatabaseConfiguration),
	})
}

// undo validates the data center, and returns the command that makes the present region primary again;
// none if it is that region.
func (o failoverOptions) undo(ctx context.Context, env *session.Env, key types.NamespacedName) ([]string, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	cluster, err := env.Read(ctx, c, key)
	if err != nil {
		return nil, err
	}
	if all := mainDataCenters(cluster); !slices.Contains(all, o.to) {
		return nil, exit.Usagef("--to %s: not the main data center of a region of %s, which has %s%s (nothing was changed)", o.to, key.Name, phrase.Or(phrase.List(all), "no regions"), session.OrMeant(o.to, phrase.Strings(all)))
	}
	primary, _ := objects.DesiredConfiguration(cluster).Primary()
	main, _ := primary.Main()
	if main.ID == o.to {
		return nil, nil
	}
	return []string{"failover", key.Name, "--to", main.ID}, nil
}

// primaryRegion is the goal of `failover`: a region that serves with the highest priority.
type primaryRegion string

func (r primaryRegion) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	target := targets.PrimaryRegion(facts, string(r))
	return []inspect.Target{target}, target.Reached, nil
}

func (r primaryRegion) Summary(to apply.Extent) string {
	if to == apply.Reached {
		return "the region of " + string(r) + " is primary"
	}
	return "the region of " + string(r) + " becomes primary"
}
