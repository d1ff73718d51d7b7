package coordinators

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// NewCoordinators is the parent of the coordinators commands. It does nothing by itself.
func NewCoordinators(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"coordinators.md"}}, &cobra.Command{
		Use:     "coordinators",
		Aliases: []string{"coordinator"},
		Short:   "Change and repair coordinators",
	})
	cmd.AddCommand(newCoordinatorsChange(env), newCoordinatorsRepair(env))
	cmdutil.AsParent(cmd, "coordinators command")
	return cmd
}

// getOptions are the options of `kubectl fdb get coordinators`.
type getOptions struct{ cmdutil.ViewOptions }

// NewGet returns the command `get coordinators`.
func NewGet(env *session.Env) *cobra.Command {
	var o getOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "coordinators [CLUSTER]",
		Short: "List coordinators and their reachability",
		Long: `List coordinators: the process group of each, its reachability, and whether it is marked for
removal or excluded; a pass changes such coordinators before it removes anything of their
process groups. If the database does not answer, the last recorded coordinators are listed
with unknown reachability.`,
		Example: `  # List coordinators and their reachability
  kubectl fdb get coordinators sample-cluster

  # For scripts
  kubectl fdb get coordinators sample-cluster -o custom-columns=ADDRESS:.address,REACHABLE:.reachable`,
	})
	o.AddView(cmd, env, o.view)
	flags.Sorting(cmd, &o.Flags, inspect.CoordinatorListView{})
	return cmd
}

func (o *getOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := inspect.NewCoordinatorListView(env.Metadata(key), facts)
	names := session.NamesOf("coordinator", v.Items, func(c inspect.CoordinatorDetailView) string { return c.Address })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = key.Name + " has no coordinators yet: it has no connection string"
	}
	return r, nil
}
