package clusters

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// treeOptions are the options of `kubectl fdb tree`.
type treeOptions struct {
	session.ClusterFlag
	format.Flags
	unhealthy bool
}

// NewTree returns the command `tree`.
func NewTree(env *session.Env) *cobra.Command {
	var o treeOptions
	cmd := &cobra.Command{
		Use:   "tree [CLUSTER]",
		Short: "Show the objects of a cluster as a tree",
		Long: `Show a cluster and what belongs to it as a tree: its ConfigMap and Services, and each
process group with its conditions, its pod, the pod's node, and its PVC. What needs
attention is colored, and what is missing is named. Nothing is changed.`,
		Example: `  # Show all objects of a cluster
  kubectl fdb tree sample-cluster

  # Show only what needs attention
  kubectl fdb tree sample-cluster --unhealthy`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.Completion().FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.ClusterFlag.Add(cmd, env)
	o.Flags.Add(cmd)
	cmd.Flags().BoolVar(&o.unhealthy, "unhealthy", false, "If true, leave out what needs no attention")
	return cmd
}

func (o treeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	record, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.About = key
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	env.Lookup().WithNodesOfPods(ctx, &facts)
	v := describe.NewTree(env.Metadata(key), facts)
	if o.unhealthy {
		v = v.Unhealthy()
	}
	return o.Print(env.Out, format.Printable{Document: v, Names: []string{"foundationdbcluster/" + key.Name}, Table: func(w io.Writer) error {
		return ui.WriteTree(w, v, ui.StatusOptions{Paint: env.Paint(w), Absolute: o.Absolute, Now: env.Clock.Now()})
	}})
}
