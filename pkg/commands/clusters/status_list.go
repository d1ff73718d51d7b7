package clusters

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// listClusters reads all clusters of a namespace, or of all if it is empty.
func listClusters(ctx context.Context, env *session.Env, o format.Flags, namespace string) (cmdutil.Output, error) {
	views, err := cmdutil.OfEach(ctx, env, namespace, func(key types.NamespacedName, cluster *session.Cluster) inspect.StatusView {
		return statusOrWhyNot(ctx, env, key, cluster)
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := listed(env, o, views)
	if len(views) == 0 {
		r.None = "no FoundationDBCluster found " + session.InNamespace(namespace)
	}
	return r, nil
}

// statusOrWhyNot returns the status of one cluster of several. One that cannot be read is shown
// from its listed resource, with the reason; the others are still shown.
func statusOrWhyNot(ctx context.Context, env *session.Env, key types.NamespacedName, cluster *session.Cluster) inspect.StatusView {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err == nil {
		return inspect.NewStatusView(env.Metadata(key), facts)
	}
	why := exit.Explain(err)
	facts = inspect.Facts{Recorded: cluster}
	facts.Cluster, facts.Now, facts.Database.Unreachable = cluster, env.Clock.Now(), why
	facts.Warnings = []string{"cannot read the cluster: " + why}
	return inspect.NewStatusView(env.Metadata(key), facts)
}

func listed(env *session.Env, o format.Flags, views []inspect.StatusView) cmdutil.Output {
	names := session.NamesOf("foundationdbcluster", views, func(v inspect.StatusView) string { return v.Metadata.Cluster })
	r := cmdutil.Output{Printable: o.Listed(env, inspect.NewStatusListView(env.Metadata(types.NamespacedName{}), env.Clock.Now(), views), names)}
	for _, v := range views {
		if code := stateCode(v.State); code > r.Code {
			r.Code, r.Reason = code, v.Metadata.Namespace+"/"+v.Metadata.Cluster+": "+v.Summary
		}
	}
	return r
}
