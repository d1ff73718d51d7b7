package session

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// completionBudget bounds the time of one shell completion. Values that are unknown by then are
// not offered.
const completionBudget = 2 * time.Second

// Candidates returns the possible values at a position of the command line.
type Candidates func(ctx context.Context, cmd *cobra.Command, args []string) []string

// sourceKey is the key of what selects the source of completions in a context.
type sourceKey struct{}

// CompletingFrom returns a context in which use selects what completions read, before they read
// anything: a dump, if the command line names one. If it fails, there are no completions.
func CompletingFrom(ctx context.Context, use func(cmd *cobra.Command) error) context.Context {
	return context.WithValue(ctx, sourceKey{}, use)
}

// Complete completes a flag with a fixed list.
func Complete(cmd *cobra.Command, flag string, list func() []string) {
	CompleteWith(cmd, flag, func(context.Context, *cobra.Command, []string) []string { return list() })
}

// completions are those of the flags of all commands that are still in use, by weak pointers. Cobra's own list
// keeps every flag that was ever completed, and what it sets, for the life of the process: it is filled
// where a command line is completed, by OfferCompletions.
var completions sync.Map

// completedFlag is a flag whose values can be completed.
type completedFlag struct {
	name string
	as   cobra.CompletionFunc
}

// CompleteWith completes a flag with Candidates that are read from the API server.
func CompleteWith(cmd *cobra.Command, flag string, list Candidates) {
	CompleteAs(cmd, flag, AsCompletion(list))
}

// CompleteAs completes a flag with what depends on the part that is typed.
func CompleteAs(cmd *cobra.Command, flag string, as cobra.CompletionFunc) {
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

// OfferCompletions makes cobra complete the flags of all commands of a tree.
func OfferCompletions(parent *cobra.Command) {
	flags, _ := completions.Load(weak.Make(parent))
	completed, _ := flags.([]completedFlag)
	for _, f := range completed {
		if err := parent.RegisterFlagCompletionFunc(f.name, f.as); err != nil {
			panic(err) // a flag that is completed twice
		}
	}
	for _, cmd := range parent.Commands() {
		OfferCompletions(cmd)
	}
}

// AsCompletion returns Candidates as a completion of arguments.
func AsCompletion(list Candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if use, is := cmd.Context().Value(sourceKey{}).(func(cmd *cobra.Command) error); is && use(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionBudget)
		defer cancel()
		return list(ctx, cmd, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// FirstArgument completes the argument CLUSTER with the names of clusters.
func (e Completion) FirstArgument(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return AsCompletion(e.ClusterNames)(cmd, args, typed)
}

func (e Completion) ClusterNames(ctx context.Context, _ *cobra.Command, _ []string) []string {
	namespace, err := e.Connection().Namespace()
	if err != nil {
		return nil
	}
	c, err := e.Client()
	if err != nil {
		return nil
	}
	clusters, err := ClustersIn(ctx, c, namespace)
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
func (e Completion) NamespaceNames(ctx context.Context, _ *cobra.Command, _ []string) []string {
	if e.dumped != nil {
		return e.dumped.namespaces()
	}
	c, err := e.Client()
	if err != nil {
		return nil
	}
	list := &corev1.NamespaceList{}
	if err := c.List(ctx, list, client.Limit(PageSize)); err != nil {
		return nil
	}
	names := make([]string, len(list.Items))
	for i, n := range list.Items {
		names[i] = n.Name
	}
	return names
}

func (e Completion) ContextNames(context.Context, *cobra.Command, []string) []string {
	raw, err := e.Kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// PodNames returns the pods of the cluster on the command line.
func (e Completion) PodNames(ctx context.Context, cmd *cobra.Command, args []string) []string {
	cluster, err := e.Cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), Reads)
	if err != nil {
		return nil
	}
	return e.GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(cluster) })(ctx, cmd, args)
}

// GroupValues returns a value of each process group in the status of the cluster on the command
// line.
func (e Completion) GroupValues(value func(*v1beta2.ProcessGroupStatus) string) Candidates {
	return func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		cluster, err := e.Cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), Reads)
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
func (e Completion) ClusterThenZone(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 && cmd.Flag("fdb-cluster").Value.String() == "" {
		return e.FirstArgument(cmd, args, typed)
	}
	return AsCompletion(e.GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.FaultDomain) }))(cmd, args, typed)
}
