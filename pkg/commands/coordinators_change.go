package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// coordinatorsChangeOptions are the options of `kubectl fdb coordinators change`.
type coordinatorsChangeOptions struct {
	clusterFlag
	changeFlags
	away []string
}

func newCoordinatorsChange(env *Env) *cobra.Command {
	var o coordinatorsChangeOptions
	cmd := &cobra.Command{
		Use:   "change [CLUSTER]",
		Short: "Change coordinators to match the spec",
		Long: `Change coordinators to match the spec: each in its own fault domain, alive, of an eligible
class, and neither excluded nor marked for removal. Runs only the stage ChangeCoordinators
of a pass. The new connection string is stored in the same action.

--away-from moves coordinators off process groups, for example before maintenance of their
nodes. A later change may select these process groups again.`,
		Example: `  # Preview the change
  kubectl fdb coordinators change sample-cluster --dry-run

  # Move the coordinator off a process group
  kubectl fdb coordinators change sample-cluster --away-from log-53845 --yes --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.changeFlags.add(cmd, "the coordinators match the spec")
	cmd.Flags().StringSliceVar(&o.away, "away-from", nil, "comma-separated process groups to move coordinators off, by ID, pod name or address")
	completeWith(cmd, "away-from", env.groupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }))
	return cmd
}

func (o coordinatorsChangeOptions) run(ctx context.Context, env *Env, args []string) error {
	key, err := o.of(ctx, env, args, o.changeFlags)
	if err != nil {
		return err
	}
	words := []string{"coordinators", "change", key.Name}
	var away []v1beta2.ProcessGroupID
	if len(o.away) > 0 {
		if away, err = (selection{ids: o.away}).choose(ctx, env, key); err != nil {
			return causeOf(ctx, err)
		}
		words = append(words, "--away-from", strings.Join(phrase.Strings(away), ","))
	}
	return env.carryOut(ctx, key, change{
		changeFlags: o.changeFlags, permissions: reconcilePermissions(), goal: movingCoordinators(away),
		words: words, stages: stages.Marking(clusterstages.MoveCoordinators(away...)),
	})
}

// movingCoordinators is the goal of `coordinators change`: coordinators that match the spec,
// and none on these process groups.
type movingCoordinators []v1beta2.ProcessGroupID

func (m movingCoordinators) progress(ctx context.Context, s Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	target := targets.CoordinatorsMoved(facts, m)
	return []inspect.Target{target}, target.Reached, nil
}

func (m movingCoordinators) summary(bool) string {
	if len(m) == 0 {
		return "the coordinators match the spec"
	}
	return "the coordinators match the spec, and none is on " + phrase.List(m)
}
