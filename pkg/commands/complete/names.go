package complete

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Names has the candidates that an environment reads.
type Names struct{ env *session.Env }

// From returns what can be completed with what an environment reads.
func From(env *session.Env) Names { return Names{env} }

// FirstArgument completes the argument CLUSTER with the names of clusters.
func (n Names) FirstArgument(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return Argument(n.ClusterNames)(cmd, args, typed)
}

// ClusterNames returns the clusters of the namespace.
func (n Names) ClusterNames(ctx context.Context, _ *cobra.Command, _ []string) []string {
	namespace, err := n.env.Connection().Namespace()
	if err != nil {
		return nil
	}
	c, err := n.env.Client()
	if err != nil {
		return nil
	}
	clusters, err := session.ClustersIn(ctx, c, namespace)
	if err != nil {
		return nil
	}
	names := make([]string, len(clusters))
	for i, c := range clusters {
		names[i] = c.Name
	}
	slices.Sort(names)
	return names
}

// NamespaceNames completes namespaces: all, or those of the clusters of a dump.
func (n Names) NamespaceNames(ctx context.Context, _ *cobra.Command, _ []string) []string {
	names, err := n.env.Lookup().Namespaces(ctx)
	if err != nil {
		return nil
	}
	return names
}

// ContextNames returns the contexts of the kubeconfig.
func (n Names) ContextNames(context.Context, *cobra.Command, []string) []string {
	raw, err := n.env.Kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// PodNames returns the pods of the cluster on the command line.
func (n Names) PodNames(ctx context.Context, cmd *cobra.Command, args []string) []string {
	cluster, err := n.env.Cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), session.Reads)
	if err != nil {
		return nil
	}
	return n.GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(cluster) })(ctx, cmd, args)
}

// GroupValues returns a value of each process group in the status of the cluster on the command
// line.
func (n Names) GroupValues(value func(*v1beta2.ProcessGroupStatus) string) Candidates {
	return func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		cluster, err := n.env.Cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), session.Reads)
		if err != nil {
			return nil
		}
		var values []string
		for _, g := range cluster.Status.ProcessGroups {
			if v := value(g); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		return values
	}
}

// ClusterThenZone completes clusters for the first argument, and then zones.
func (n Names) ClusterThenZone(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 && cmd.Flag("fdb-cluster").Value.String() == "" {
		return n.FirstArgument(cmd, args, typed)
	}
	return Argument(n.GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.FaultDomain) }))(cmd, args, typed)
}

// ClusterThenGroups completes clusters for the first argument, and then process groups.
func (n Names) ClusterThenGroups(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 && cmd.Flag("fdb-cluster").Value.String() == "" {
		return n.FirstArgument(cmd, args, typed)
	}
	groups := n.GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) })
	return Argument(func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		cluster, ids := session.SplitIDs(args, cmd.Flag("fdb-cluster").Value.String())
		return slices.DeleteFunc(groups(ctx, cmd, cluster), func(id string) bool {
			return slices.Contains(ids, id) || !strings.HasPrefix(id, typed)
		})
	})(cmd, args, typed)
}

// NodeNames returns the nodes that no argument names yet.
func (n Names) NodeNames(ctx context.Context, _ *cobra.Command, given []string) []string {
	c, err := n.env.Client()
	if err != nil {
		return nil
	}
	names, err := session.NodesWith(ctx, c, labels.Everything())
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) })
}

// TaintKeys returns the keys of the taints of all nodes.
func (n Names) TaintKeys(ctx context.Context, _ *cobra.Command, _ []string) []string {
	list := &corev1.NodeList{}
	c, err := n.env.Client()
	if err != nil || c.List(ctx, list) != nil {
		return nil
	}
	var keys []string
	for _, node := range list.Items {
		for _, taint := range node.Spec.Taints {
			keys = append(keys, taint.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Resource completes the first argument with the names of the resources of a kind.
func Resource(env *session.Env, kind *session.ResourceKind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Argument(func(ctx context.Context, _ *cobra.Command, _ []string) []string {
			namespace, err := env.Connection().Namespace()
			if err != nil {
				return nil
			}
			keys, _ := kind.Keys(ctx, env, namespace) // nothing is offered if listing fails
			names := make([]string, len(keys))
			for i, key := range keys {
				names[i] = key.Name
			}
			return names
		})(cmd, args, typed)
	}
}

// Confirmed completes --confirm with the name of a resource of a kind in the first argument.
func Confirmed(kind *session.ResourceKind) Candidates {
	return func(_ context.Context, _ *cobra.Command, args []string) []string {
		if of, name := session.ResourceKindOf(args); of == kind {
			return []string{name}
		}
		return nil
	}
}
