package clusters

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// processesOptions are the options of `kubectl fdb get processes`.
type processesOptions struct {
	cmdutil.ViewOptions
	cmdutil.Selection
}

// NewGetProcesses returns the command `processes`.
func NewGetProcesses(env *session.Env) *cobra.Command {
	var o processesOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
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
			cluster, ids := session.GroupArgs(cmd.Context(), env, args, o.Name)
			var err error
			if o.IDs, err = cmdutil.ExpandArgs(slices.Concat(ids, o.IDs), env.In); err != nil {
				return err
			}
			if _, err := o.Filter(); err != nil {
				return err
			}
			return o.Display(cmd.Context(), env, cluster, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
				return o.view(ctx, env, key)
			})
		},
	})
	o.Add(cmd, env)
	flags.Sorting(cmd, &o.Flags, lists.ProcessListView{})
	groups.Add(&o.Selection, cmd, env)
	cmd.ValidArgsFunction = complete.From(env).ClusterThenGroups
	return cmd
}

func (o processesOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	if !facts.Database.Status.ListsProcesses() {
		return cmdutil.Output{}, groups.Unanswered(facts, "the processes")
	}
	among, err := o.Match(facts)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := lists.NewProcessListView(env.Metadata(key), facts)
	v.Items = slices.DeleteFunc(v.Items, func(p lists.ProcessView) bool { return o.Chooses() && !groups.HasGroup(among, p.Group) })
	names := session.NamesOf("process", v.Items, func(p lists.ProcessView) string { return p.Address })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = "the database of " + key.Name + " reports no matching process"
	}
	return r, nil
}
