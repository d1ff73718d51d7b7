package commands

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// completionBudget bounds the time of one shell completion. Values that are unknown by then are
// not offered.
const completionBudget = 2 * time.Second

// candidates returns the possible values at a position of the command line.
type candidates func(ctx context.Context, cmd *cobra.Command, args []string) []string

// complete completes a flag with a fixed list.
func complete(cmd *cobra.Command, flag string, list func() []string) {
	completeWith(cmd, flag, func(context.Context, *cobra.Command, []string) []string { return list() })
}

func completeWith(cmd *cobra.Command, flag string, list candidates) {
	if err := cmd.RegisterFlagCompletionFunc(flag, asCompletion(list)); err != nil {
		panic(err) // a flag that does not exist, or is completed twice
	}
}

func asCompletion(list candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionBudget)
		defer cancel()
		return list(ctx, cmd, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// firstArgument completes the argument CLUSTER with the names of clusters.
func (e *Env) firstArgument(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return asCompletion(e.clusterNames)(cmd, args, typed)
}

func (e *Env) clusterNames(ctx context.Context, _ *cobra.Command, _ []string) []string {
	namespace, err := e.namespace()
	if err != nil {
		return nil
	}
	c, err := e.Client()
	if err != nil {
		return nil
	}
	clusters, err := clustersIn(ctx, c, namespace)
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

func (e *Env) namespaceNames(ctx context.Context, _ *cobra.Command, _ []string) []string {
	c, err := e.Client()
	if err != nil {
		return nil
	}
	list := &corev1.NamespaceList{}
	if err := c.List(ctx, list, client.Limit(pageSize)); err != nil {
		return nil
	}
	names := make([]string, len(list.Items))
	for i, n := range list.Items {
		names[i] = n.Name
	}
	return names
}

func (e *Env) contextNames(context.Context, *cobra.Command, []string) []string {
	raw, err := e.Kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// podNames returns the pods of the cluster on the command line.
func (e *Env) podNames(ctx context.Context, cmd *cobra.Command, args []string) []string {
	record, err := e.cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), reads)
	if err != nil {
		return nil
	}
	return e.groupValues(func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(record) })(ctx, cmd, args)
}

// groupValues returns a value of each process group in the status of the cluster on the command
// line.
func (e *Env) groupValues(value func(*v1beta2.ProcessGroupStatus) string) candidates {
	return func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		record, err := e.cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), reads)
		if err != nil {
			return nil
		}
		var values []string
		for _, g := range record.Status.ProcessGroups {
			if v := value(g); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		return values
	}
}
