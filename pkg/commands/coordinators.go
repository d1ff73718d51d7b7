package commands

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// newCoordinators is the parent of the coordinators commands. It does nothing by itself.
func newCoordinators(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "coordinators",
		Aliases: []string{"coordinator"},
		Short:   "List, change and repair coordinators",
	}
	cmd.AddCommand(newCoordinatorsList(env, "list"), newCoordinatorsChange(env), newCoordinatorsRepair(env))
	asParent(cmd, "coordinators command")
	return cmd
}

// coordinatorsListOptions are the options of `kubectl fdb coordinators list`.
type coordinatorsListOptions struct{ viewOptions }

// newCoordinatorsList is one command under two names: coordinators list and get coordinators.
func newCoordinatorsList(env *Env, name string) *cobra.Command {
	var o coordinatorsListOptions
	cmd := &cobra.Command{
		Use:   name + " [CLUSTER]",
		Short: "List coordinators and their reachability",
		Long: `List coordinators: the process group of each, its reachability, and whether it is marked for
removal or excluded; a pass changes such coordinators before it removes anything of their
process groups. If the database does not answer, the last recorded coordinators are listed
with unknown reachability.`,
		Example: `  # List coordinators and their reachability
  kubectl fdb coordinators list sample-cluster

  # For scripts
  kubectl fdb get coordinators sample-cluster -o custom-columns=ADDRESS:.address,REACHABLE:.reachable`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.display(cmd.Context(), env, args, func(ctx context.Context, key types.NamespacedName) (output, error) {
				return o.view(ctx, env, key)
			})
		},
	}
	o.add(cmd, env)
	return cmd
}

func (o coordinatorsListOptions) view(ctx context.Context, env *Env, key types.NamespacedName) (output, error) {
	facts, err := clusterReader{env: env, key: key, asks: plan.Database}.facts(ctx)
	if err != nil {
		return output{}, err
	}
	v := inspect.NewCoordinatorListView(env.metadata(key), facts)
	r := output{warnings: v.Warnings, printable: printable{
		document: v, names: namesOf("coordinator", v.Items, func(c inspect.CoordinatorDetailView) string { return c.Address }),
		table: func(w io.Writer) error { return ui.WriteCoordinators(w, v, o.list(env)) },
	}}
	if len(v.Items) == 0 {
		r.none = key.Name + " has no coordinators yet: it has no connection string"
	}
	return r, nil
}
