package nodes

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

// nodesOptions are the options of `kubectl fdb get nodes`.
type nodesOptions struct {
	cmdutil.ViewOptions
	all bool
}

// NewGetNodes returns the command `nodes`.
func NewGetNodes(env *session.Env) *cobra.Command {
	var o nodesOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:     "nodes [CLUSTER]",
		Aliases: []string{"node", "no"},
		Short:   "List the nodes of a cluster with taints and timers",
		Long: `List the nodes that run pods of a cluster: their taints, the matching rules of the spec
(automationOptions.replacements.taintReplacementOptions), and when their timers end. The
rule key>300s tolerates the taint for 300 s. DETECT-IN is the time until this ends,
REPLACE-IN the time until passes may replace the process groups on the node.
"kubectl fdb plan" shows how many are replaced at once, and whether too many nodes are
tainted for replacements.

Nodes are not namespaced. Without the permission to list them, "?" is shown, MATCHED-RULE is
not-checked, and the reason is printed on stderr.`,
		Example: `  # List the nodes of a cluster and pending replacements
  kubectl fdb get nodes sample-cluster

  # Include nodes without pods of the cluster
  kubectl fdb get nodes sample-cluster --all`,
	})
	o.AddView(cmd, env, o.view)
	flags.Sorting(cmd, &o.Flags, inspect.NodeListView{})
	cmd.Flags().BoolVar(&o.all, "all", false, "If true, also list nodes without pods of the cluster")
	return cmd
}

func (o *nodesOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database, Nodes: true}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	newView := inspect.NewNodeListView
	if o.all {
		newView = inspect.NewAllNodesView
	}
	v := newView(env.Metadata(key), facts)
	names := session.NamesOf("node", v.Items, func(n inspect.NodeView) string { return n.Name })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = "no pod of " + key.Name + " runs on a node"
	}
	return r, nil
}
