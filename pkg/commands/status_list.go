package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// parallelLooks bounds how many clusters are asked at once.
const parallelLooks = 8

// listClusters looks at all clusters of a namespace, or of all when it is empty.
func listClusters(ctx context.Context, env *Env, o outputFlags, namespace string) (looked, error) {
	c, err := env.Client()
	if err != nil {
		return looked{}, err
	}
	clusters, err := clustersIn(ctx, c, namespace)
	if err != nil {
		return looked{}, err
	}
	slices.SortFunc(clusters, func(a, b cluster) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	views := make([]ui.StatusView, len(clusters))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelLooks)
	for i := range clusters {
		key := types.NamespacedName{Namespace: clusters[i].Namespace, Name: clusters[i].Name}
		group.Go(func() error {
			facts, err := observation{env: env, key: key}.facts(ctx)
			if err != nil {
				return err
			}
			views[i] = ui.NewStatusView(env.metadata(key), facts)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return looked{}, err
	}
	r := listed(env, o, views)
	if len(views) == 0 {
		r.none = "there is no FoundationDBCluster " + inNamespace(namespace)
	}
	return r, nil
}

func listed(env *Env, o outputFlags, views []ui.StatusView) looked {
	list := ui.NewStatusListView(env.metadata(types.NamespacedName{}), env.Clock.Now(), views)
	r := looked{printable: printable{
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
