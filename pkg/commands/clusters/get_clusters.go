package clusters

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// clustersOptions are the options of `kubectl fdb get clusters`.
type clustersOptions struct {
	format.Flags
	cmdutil.PollOptions
	all bool
}

// NewGetClusters returns the command `clusters`.
func NewGetClusters(env *session.Env) *cobra.Command {
	var o clustersOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.ViewingAll,
	}, &cobra.Command{
		Use:     "clusters",
		Aliases: []string{"cluster", "fdb", "foundationdbclusters", "foundationdbcluster"},
		Short:   "List clusters",
		Long: `List the clusters of the namespace, one row each, with the columns of
"kubectl fdb status -A". The exit code does not depend on their health; use status for
that.`,
		Example: `  # List the clusters of this namespace
  kubectl fdb get clusters

  # List the clusters of all namespaces, with more columns
  kubectl fdb get clusters -A -o wide`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	})
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, inspect.StatusListView{})
	o.AddWatch(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	return cmd
}

func (o clustersOptions) run(ctx context.Context, env *session.Env) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	namespace, err := env.Connection().NamespaceUnless(o.all)
	if err != nil {
		return err
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) {
		r, err := listClusters(ctx, env, o.Flags, namespace)
		r.Code = exit.ExitDone
		return r, err
	})
}
