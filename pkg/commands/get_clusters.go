package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// clustersOptions are the options of `kubectl fdb get clusters`.
type clustersOptions struct {
	outputFlags
	pollOptions
	all bool
}

func newGetClusters(env *Env) *cobra.Command {
	var o clustersOptions
	cmd := &cobra.Command{
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
	}
	o.add(cmd)
	o.addWatch(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	return cmd
}

func (o clustersOptions) run(ctx context.Context, env *Env) error {
	if err := errors.Join(o.outputFlags.check(), o.pollOptions.check()); err != nil {
		return err
	}
	namespace, err := env.namespaceUnless(o.all)
	if err != nil {
		return err
	}
	return o.pollOptions.run(ctx, env, o.outputFlags, func(ctx context.Context) (output, error) {
		r, err := listClusters(ctx, env, o.outputFlags, namespace)
		r.code = ExitDone
		return r, err
	})
}
