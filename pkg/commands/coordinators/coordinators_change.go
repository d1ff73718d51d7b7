package coordinators

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ChangeOptions are the options of `kubectl fdb coordinators change`.
type ChangeOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	// Away are the process groups to move coordinators off, by ID, pod name or address.
	Away []string
}

func newCoordinatorsChange(env *session.Env) *cobra.Command {
	var o ChangeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "change [CLUSTER]",
		Short: "Change coordinators to match the spec",
		Long: `Change coordinators to match the spec: each in its own fault domain, alive, of an eligible
class, and neither excluded nor marked for removal. Runs only the stage ChangeCoordinators
of a pass. The same action stores the new connection string in the status of the resource;
the next pass writes it to the ConfigMap.

--away-from moves coordinators off process groups, for example before maintenance of their
nodes. A later change may select these process groups again.`,
		Example: `  # Preview the change
  kubectl fdb coordinators change sample-cluster --dry-run

  # Move the coordinator off a process group
  kubectl fdb coordinators change sample-cluster --away-from log-53845 --yes --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Change(cmd, &o.ChangeFlags, "the coordinators match the spec")
	cmd.Flags().StringSliceVar(&o.Away, "away-from", nil, "comma-separated process groups to move coordinators off, by ID, pod name or address")
	complete.FlagWith(cmd, "away-from", complete.From(env).GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }))
	return cmd
}

func (o ChangeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	c, err := o.Prepare(ctx, env, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return apply.CarryOut(ctx, env, key, c)
}

// Prepare returns the change of the coordinators.
func (o ChangeOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error) {
	words := []string{"coordinators", "change", key.Name}
	var away []v1beta2.ProcessGroupID
	if len(o.Away) > 0 {
		var err error
		if away, err = (cmdutil.Selection{IDs: o.Away}).Choose(ctx, env, key); err != nil {
			return apply.Change{}, err
		}
		words = append(words, "--away-from", strings.Join(phrase.Strings(away), ","))
	}
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: movingCoordinators(away),
		Args: words, Stages: stages.Marking(clusterstages.MoveCoordinators(away...)),
	}, nil
}

// movingCoordinators is the goal of `coordinators change`: coordinators that match the spec,
// and none on these process groups.
type movingCoordinators []v1beta2.ProcessGroupID

func (m movingCoordinators) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	target := targets.CoordinatorsMoved(facts, m)
	return []inspect.Target{target}, target.Reached, nil
}

func (m movingCoordinators) Summary(apply.Extent) string {
	if len(m) == 0 {
		return "the coordinators match the spec"
	}
	return "the coordinators match the spec, and none is on " + phrase.List(m)
}
