package cmdutil

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// ResourceViewOptions are the options of commands that show one backup or restore.
type ResourceViewOptions struct {
	format.Flags
	PollOptions
}

func (o *ResourceViewOptions) Add(cmd *cobra.Command, env *session.Env, kind *session.ResourceKind) {
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.ValidArgsFunction = complete.Resource(env, kind)
	flags.Output(cmd, &o.Flags)
	o.Interval = PollInterval
}

// Display finds the resource and prints what read returns.
func (o ResourceViewOptions) Display(ctx context.Context, env *session.Env, kind *session.ResourceKind, args []string, facets plan.Facet, read func(types.NamespacedName, plan.Snapshot) Output) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	key, err := kind.Key(ctx, env, args, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	env.Run.About = kind.Named(key)
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (Output, error) {
		s, err := env.Lookup().ObserveResource(ctx, kind, key, facets)
		if err != nil {
			return Output{}, exit.CauseOf(ctx, err)
		}
		seen := read(key, s)
		seen.Warnings = append(seen.Warnings, s.Clock.Warnings()...)
		return seen, nil
	})
}
