package clusters

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// treeOptions are the options of `kubectl fdb tree`.
type treeOptions struct {
	cmdutil.ViewOptions
	unhealthy bool
}

// NewTree returns the command `tree`.
func NewTree(env *session.Env) *cobra.Command {
	var o treeOptions
	cmd := session.Declare(session.Declaration{
		Effect: session.EffectReads, Group: session.Inspection, Pages: []string{"inspect.md#all-objects"}, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "tree [CLUSTER]",
		Short: "Show the objects of a cluster as a tree",
		Long: `Show a cluster and what belongs to it as a tree: its ConfigMap and Services, and each
process group with its conditions, its pod, the pod's node, and its PVC. What needs
attention is colored, and missing objects are listed. Nothing is changed.`,
		Example: `  # Show all objects of a cluster
  kubectl fdb tree sample-cluster

  # Show only objects with problems, continuously
  kubectl fdb tree sample-cluster --unhealthy -w`,
	})
	o.AddView(cmd, env, o.view)
	cmd.Flags().BoolVar(&o.unhealthy, "unhealthy", false, "If true, show only objects with problems")
	return cmd
}

func (o *treeOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	env.Lookup().WithNodesOfPods(ctx, &facts)
	v := describe.NewTree(env.Metadata(key), facts)
	if o.unhealthy {
		v = v.Unhealthy()
	}
	return cmdutil.Output{Warnings: v.Warnings, Printable: format.Printable{
		Document: v, Names: []string{"foundationdbcluster/" + key.Name},
		Table: func(w io.Writer) error {
			return ui.WriteTree(w, v, ui.StatusOptions{Paint: env.Paint(w), Absolute: o.Absolute, Now: env.Clock.Now()})
		},
	}}, nil
}
