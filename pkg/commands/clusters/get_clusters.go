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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// clustersOptions are the options of `kubectl fdb get clusters`.
type clustersOptions struct {
	format.Flags
	cmdutil.PollOptions
	sites sites.Flags
	all   bool
}

// NewGetClusters returns the command `clusters`.
func NewGetClusters(env *session.Env) *cobra.Command {
	var o clustersOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.ViewingAll, With: cmdutil.OverSites(cmdutil.ViewingAll),
	}, &cobra.Command{
		Use:     "clusters",
		Aliases: []string{"cluster", "fdb", "foundationdbclusters", "foundationdbcluster"},
		Short:   "List clusters",
		Long: `List the clusters of the namespace, one row each, with the columns of
"kubectl fdb status -A". The exit code does not depend on their health; use status for
that.

With --contexts or --sites, list the resources of one database in several Kubernetes
clusters, one row for each site. A site that cannot be read has a row with the reason, and
the exit code is 8.`,
		Example: `  # List the clusters of this namespace
  kubectl fdb get clusters

  # List the clusters of all namespaces, with more columns
  kubectl fdb get clusters -A -o wide

  # List the resources of one database in three Kubernetes clusters
  kubectl fdb get clusters --contexts dc1,dc2,dc3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	})
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, inspect.StatusListView{})
	o.AddWatch(cmd)
	flags.Sites(cmd, &o.sites, env)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	return cmd
}

func (o clustersOptions) run(ctx context.Context, env *session.Env) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	named, err := o.sites.Sites(env, sites.Scope{Other: o.all, Words: "-A"})
	if err != nil {
		return err
	}
	if len(named) > 0 {
		return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.overSites(ctx, env, named) })
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

func (o clustersOptions) overSites(ctx context.Context, env *session.Env, named []sites.Site) (cmdutil.Output, error) {
	v, err := listSites(ctx, env, named, nil, "", func(ctx context.Context, reader session.ClusterReader) (inspect.Facts, error) {
		return reader.Facts(ctx)
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := listed(env, o.Flags, v)
	r.Warnings, r.Code = v.Warnings, exit.ExitDone
	if len(v.Unread) > 0 {
		r.Code = exit.ExitUnreachable
	}
	return r, nil
}
