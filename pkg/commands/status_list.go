package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// parallelReads bounds how many clusters are read concurrently.
const parallelReads = 8

// ofEach reads each cluster of a namespace, or of all if it is empty, a few at a time, and
// returns the results in the order of their names. A failure to read one is a result as well,
// and keeps no other from being read.
func ofEach[T any](ctx context.Context, env *Env, namespace string, read func(types.NamespacedName, *cluster) T) ([]T, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	clusters, err := clustersIn(ctx, c, namespace)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	slices.SortFunc(clusters, func(a, b cluster) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	seen := make([]T, len(clusters))
	var group errgroup.Group
	group.SetLimit(parallelReads)
	for i := range clusters {
		key := types.NamespacedName{Namespace: clusters[i].Namespace, Name: clusters[i].Name}
		group.Go(func() error {
			seen[i] = read(key, &clusters[i])
			return nil
		})
	}
	_ = group.Wait() // errors are in the results
	if ctx.Err() != nil {
		return nil, causeOf(ctx, ctx.Err())
	}
	return seen, nil
}

// listClusters reads all clusters of a namespace, or of all if it is empty.
func listClusters(ctx context.Context, env *Env, o outputFlags, namespace string) (output, error) {
	views, err := ofEach(ctx, env, namespace, func(key types.NamespacedName, record *cluster) inspect.StatusView {
		return statusOrWhyNot(ctx, env, key, record)
	})
	if err != nil {
		return output{}, err
	}
	r := listed(env, o, views)
	if len(views) == 0 {
		r.none = "no FoundationDBCluster found " + inNamespace(namespace)
	}
	return r, nil
}

// statusOrWhyNot returns the status of one cluster of several. One that cannot be read is shown
// from its listed resource, with the reason; the others are still shown.
func statusOrWhyNot(ctx context.Context, env *Env, key types.NamespacedName, record *cluster) inspect.StatusView {
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	if err == nil {
		return inspect.NewStatusView(env.metadata(key), facts)
	}
	why := explain(err)
	facts = inspect.Facts{Recorded: record}
	facts.Cluster, facts.Now, facts.Database.Unreachable = record, env.Clock.Now(), why
	facts.Warnings = []string{"cannot read the cluster: " + why}
	return inspect.NewStatusView(env.metadata(key), facts)
}

func listed(env *Env, o outputFlags, views []inspect.StatusView) output {
	list := ui.NewStatusListView(env.metadata(types.NamespacedName{}), env.Clock.Now(), views)
	r := output{printable: printable{
		document: list,
		table:    func(w io.Writer) error { return ui.WriteStatusList(w, list, o.list(env)) },
	}}
	for _, v := range views {
		r.names = append(r.names, "foundationdbcluster/"+v.Metadata.Cluster)
		if code := stateCode(v.State); code > r.code {
			r.code, r.reason = code, v.Metadata.Namespace+"/"+v.Metadata.Cluster+": "+v.Summary
		}
	}
	return r
}
