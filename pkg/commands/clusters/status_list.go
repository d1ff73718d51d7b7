package clusters

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// listClusters reads all clusters of a namespace, or of all if it is empty.
func listClusters(ctx context.Context, env *session.Env, o format.Flags, namespace string) (cmdutil.Output, error) {
	views, err := cmdutil.OfEach(ctx, env, namespace, func(key types.NamespacedName, cluster *session.Cluster) inspect.StatusView {
		return statusOrWhyNot(ctx, env, key, cluster)
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := listed(env, o, inspect.NewStatusListView(env.Metadata(types.NamespacedName{}), env.Clock.Now(), views))
	if len(views) == 0 {
		r.None = "no FoundationDBCluster found " + session.InNamespace(namespace)
	}
	return r, nil
}

// listSites reads facts at the sites of one database, whose status is read once.
func listSites(ctx context.Context, env *session.Env, named []sites.Site, args []string, flag string, read func(context.Context, session.ClusterReader) (inspect.Facts, error)) (inspect.StatusListView, error) {
	opened, err := sites.Open(ctx, env, named, args, flag)
	if err != nil {
		return inspect.StatusListView{}, err
	}
	views, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (inspect.StatusView, error) {
		facts, err := read(ctx, reader)
		if err != nil {
			return inspect.StatusView{}, err
		}
		return inspect.NewStatusView(site.Env.Metadata(reader.Key), facts), nil
	})
	if err != nil {
		return inspect.StatusListView{}, err
	}
	v := inspect.NewStatusListView(env.Metadata(types.NamespacedName{}), env.Clock.Now(), views)
	return v.OverSites(unread, sites.Contradictions(opened)), nil
}

// verdictOf returns the exit code of several clusters, and why it is not that of a healthy one. A site that cannot be read is
// unknown.
func verdictOf(v inspect.StatusListView) (code int, reason string) {
	for _, one := range v.Items {
		if c := stateCode(one.State); c > code {
			code, reason = c, one.Metadata.Subject()+": "+one.Summary
		}
	}
	if len(v.Differences) > 0 && code < exit.ExitNo {
		code, reason = exit.ExitNo, v.Differences[0]
	}
	if len(v.Unread) > 0 && code < exit.ExitUnreachable {
		code, reason = exit.ExitUnreachable, v.Unread[0].Warning()
	}
	return code, reason
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

func listed(env *session.Env, o format.Flags, v inspect.StatusListView) cmdutil.Output {
	r := cmdutil.Output{Printable: o.Listed(env, v, namesOf(v))}
	r.Code, r.Reason = verdictOf(v)
	return r
}

func namesOf(v inspect.StatusListView) []string {
	return session.NamesOf("foundationdbcluster", v.Items, func(v inspect.StatusView) string { return v.Metadata.Cluster })
}
