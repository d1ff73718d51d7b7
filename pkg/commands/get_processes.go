package commands

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// processesOptions are the options of `kubectl fdb get processes`.
type processesOptions struct {
	viewOptions
	selection
}

func newGetProcesses(env *Env) *cobra.Command {
	var o processesOptions
	cmd := &cobra.Command{
		Use:     "processes [CLUSTER] [ID...]",
		Aliases: []string{"process", "proc"},
		Short:   "List the processes reported by the database",
		Long: `List the processes reported by the database, including those of other control-plane
instances that share it. Processes that should report and do not are listed by
"kubectl fdb get process-groups".

IDs and the flags that select process groups limit the list to their processes.`,
		Example: `  # List all processes
  kubectl fdb get processes sample-cluster

  # Include CPU, memory, disks, lag and messages
  kubectl fdb get processes sample-cluster -o wide

  # List the storage processes on a node
  kubectl fdb get processes sample-cluster --class storage --node node-3

  # List the running versions
  kubectl fdb get processes sample-cluster -o custom-columns=VERSION:.version --no-headers`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, ids := splitIDs(args, o.name)
			var err error
			if o.ids, err = expandArgs(slices.Concat(ids, o.ids), env.In); err != nil {
				return err
			}
			if _, err := o.filter(); err != nil {
				return err
			}
			return o.display(cmd.Context(), env, cluster, func(ctx context.Context, key types.NamespacedName) (output, error) {
				return o.view(ctx, env, key)
			})
		},
	}
	o.viewOptions.add(cmd, env)
	o.selection.add(cmd, env)
	cmd.ValidArgsFunction = env.clusterThenGroups
	return cmd
}

func (o processesOptions) view(ctx context.Context, env *Env, key types.NamespacedName) (output, error) {
	facts, err := clusterReader{env: env, key: key, asks: plan.Database}.facts(ctx)
	if err != nil {
		return output{}, err
	}
	if !facts.Database.Status.ListsProcesses() {
		return output{}, unanswered(facts, "the processes")
	}
	among, err := o.match(env, key, facts)
	if err != nil {
		return output{}, err
	}
	v := lists.NewProcessListView(env.metadata(key), facts)
	v.Items = slices.DeleteFunc(v.Items, func(p lists.ProcessView) bool { return o.chooses() && !hasGroup(among, p.Group) })
	r := output{warnings: v.Warnings, printable: printable{
		document: v, names: namesOf("process", v.Items, func(p lists.ProcessView) string { return p.Address }),
		table: func(w io.Writer) error { return ui.WriteProcesses(w, v, o.list(env)) },
	}}
	if len(v.Items) == 0 {
		r.none = "the database of " + key.Name + " reports no matching process"
	}
	return r, nil
}
