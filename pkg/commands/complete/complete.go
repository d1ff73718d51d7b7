// Package complete completes the words of command lines in a shell: the values of flags, and arguments.
package complete

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// completionBudget bounds the time of one shell completion. Values that are unknown by then are
// not offered.
const completionBudget = 2 * time.Second

// Candidates returns the possible values at a position of the command line.
type Candidates func(ctx context.Context, cmd *cobra.Command, args []string) []string

// sourceKey is the key of what selects the source of completions in a context.
type sourceKey struct{}

// ReadingFrom returns a context in which use selects what completions read, before they read
// anything: a dump, if the command line names one. If it fails, there are no completions.
func ReadingFrom(ctx context.Context, use func(cmd *cobra.Command) error) context.Context {
	return context.WithValue(ctx, sourceKey{}, use)
}

// Flag completes a flag with a fixed list.
func Flag(cmd *cobra.Command, flag string, list func() []string) {
	FlagWith(cmd, flag, func(context.Context, *cobra.Command, []string) []string { return list() })
}

// completions are those of the flags of all commands that are still in use, by weak pointers. Cobra's own list
// keeps every flag that was ever completed, and what it sets, for the life of the process: it is filled
// where a command line is completed, by Offer.
var completions sync.Map

// completedFlag is a flag whose values can be completed.
type completedFlag struct {
	name string
	as   cobra.CompletionFunc
}

// FlagWith completes a flag with Candidates that are read from the API server.
func FlagWith(cmd *cobra.Command, flag string, list Candidates) {
	FlagAs(cmd, flag, Argument(list))
}

// FlagAs completes a flag with what depends on the part that is typed.
func FlagAs(cmd *cobra.Command, flag string, as cobra.CompletionFunc) {
	if cmd.Flag(flag) == nil {
		panic("completes a flag that does not exist: " + flag)
	}
	key := weak.Make(cmd)
	flags, known := completions.Load(key)
	completed, _ := flags.([]completedFlag)
	completions.Store(key, append(completed, completedFlag{flag, as}))
	if !known {
		runtime.AddCleanup(cmd, func(key weak.Pointer[cobra.Command]) { completions.Delete(key) }, key)
	}
}

// Offer makes cobra complete the flags of all commands of a tree.
func Offer(parent *cobra.Command) {
	flags, _ := completions.Load(weak.Make(parent))
	completed, _ := flags.([]completedFlag)
	for _, f := range completed {
		if err := parent.RegisterFlagCompletionFunc(f.name, f.as); err != nil {
			panic(err) // a flag that is completed twice
		}
	}
	for _, cmd := range parent.Commands() {
		Offer(cmd)
	}
}

// Argument returns Candidates as a completion of arguments.
func Argument(list Candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if use, is := cmd.Context().Value(sourceKey{}).(func(cmd *cobra.Command) error); is && use(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionBudget)
		defer cancel()
		return list(ctx, cmd, args), cobra.ShellCompDirectiveNoFileComp
	}
}

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
