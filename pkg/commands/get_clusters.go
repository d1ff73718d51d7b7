package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// clustersOptions is what `kubectl fdb get clusters` was asked to list.
type clustersOptions struct {
	outputFlags
	repetition
	all bool
}

func newGetClusters(env *Env) *cobra.Command {
	var o clustersOptions
	cmd := &cobra.Command{
		Use:     "clusters",
		Aliases: []string{"cluster", "fdb", "foundationdbclusters", "foundationdbcluster"},
		Short:   "List clusters: their state, tolerance, coordinators and process groups",
		Long: `List the clusters of the namespace, a row for each; the rows are those of
"kubectl fdb status -A". The exit code says nothing about how they are: see status for that.`,
		Example: `  # Those of this namespace
  kubectl fdb get clusters

  # Those of all namespaces, with more columns
  kubectl fdb get clusters -A -o wide`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	}
	o.add(cmd)
	o.addWatch(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "list the clusters of all namespaces")
	return cmd
}

func (o clustersOptions) run(ctx context.Context, env *Env) error {
	if err := errors.Join(o.outputFlags.check(), o.repetition.check()); err != nil {
		return err
	}
	namespace, err := env.namespaceUnless(o.all)
	if err != nil {
		return err
	}
	return o.repetition.run(ctx, env, o.outputFlags, func(ctx context.Context) (looked, error) {
		r, err := listClusters(ctx, env, o.outputFlags, namespace)
		r.code = ExitDone
		return r, err
	})
}
