package cmdutil

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// OfEach reads each cluster of a namespace, or of all if it is empty, a few at a time, and
// returns the results in the order of their names. A failure to read one is a result as well,
// and keeps no other from being read.
func OfEach[T any](ctx context.Context, env *session.Env, namespace string, read func(types.NamespacedName, *session.Cluster) T) ([]T, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	clusters, err := session.ClustersIn(ctx, c, namespace)
	if err != nil {
		return nil, exit.CauseOf(ctx, err)
	}
	slices.SortFunc(clusters, func(a, b session.Cluster) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	seen := make([]T, len(clusters))
	var group errgroup.Group
	group.SetLimit(session.ParallelReads)
	for i := range clusters {
		key := types.NamespacedName{Namespace: clusters[i].Namespace, Name: clusters[i].Name}
		group.Go(func() error {
			seen[i] = read(key, &clusters[i])
			return nil
		})
	}
	_ = group.Wait() // errors are in the results
	if ctx.Err() != nil {
		return nil, exit.CauseOf(ctx, ctx.Err())
	}
	return seen, nil
}
