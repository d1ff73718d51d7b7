package commands

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// nodesOptions is what `kubectl fdb get nodes` was asked to list.
type nodesOptions struct {
	lookOptions
	all bool
}

func newGetNodes(env *Env) *cobra.Command {
	var o nodesOptions
	cmd := &cobra.Command{
		Use:     "nodes [CLUSTER]",
		Aliases: []string{"node", "no"},
		Short:   "List the nodes of a cluster: taints, the rules about them, and both timers",
		Long: `List the nodes that the pods of a cluster run on: their taints, the rules of the spec
(automationOptions.replacements.taintReplacementOptions) that are about these, and when
their timers end. A rule that reads key>300s allows the taint for 300 s. DETECT-IN is the
time until that is over, REPLACE-IN until passes may replace the process groups there; how
many at once, and whether too many nodes are tainted for it, shows in "kubectl fdb plan".

Nodes belong to no namespace: who may not list them sees "?", and stderr says why.`,
		Example: `  # Where does it run, and what is about to move?
  kubectl fdb get nodes sample-cluster

  # Also nodes that none of its pods runs on
  kubectl fdb get nodes sample-cluster --all`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.look(cmd.Context(), env, args, func(ctx context.Context, key types.NamespacedName) (looked, error) {
				return o.see(ctx, env, key)
			})
		},
	}
	o.add(cmd, env)
	cmd.Flags().BoolVar(&o.all, "all", false, "also nodes that none of the cluster's pods runs on")
	return cmd
}

func (o nodesOptions) see(ctx context.Context, env *Env, key types.NamespacedName) (looked, error) {
	facts, err := observation{env: env, key: key, asks: plan.Database, nodes: true}.facts(ctx)
	if err != nil {
		return looked{}, err
	}
	v := ui.NewNodeListView(env.metadata(key), facts, o.all)
	r := looked{warnings: v.Warnings, printable: printable{
		document: v, names: namesOf("node", v.Items, func(n ui.NodeView) string { return n.Name }),
		table: func(w io.Writer) error { return ui.WriteNodes(w, v, o.list(env)) },
	}}
	if len(v.Items) == 0 {
		r.none = "no pod of " + key.Name + " runs on a node"
	}
	return r, nil
}
