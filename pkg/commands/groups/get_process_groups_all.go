package groups

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// runOnAll lists the process groups of the clusters of all namespaces, which names conflict with.
func (o groupsOptions) runOnAll(ctx context.Context, env *session.Env, names []string, keep cmdutil.GroupFilter) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	if len(names) > 0 || o.Name != "" {
		return exit.Usagef("-A conflicts with names of clusters and process groups")
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.viewAll(ctx, env, keep) })
}

// groupsOrWhyNot holds the process groups of one cluster of several, or the error.
type groupsOrWhyNot struct {
	key    types.NamespacedName
	groups inspect.GroupListView
	err    error
}

// viewAll reads all clusters. One that cannot be read causes a warning and sets the exit code;
// the others are still shown.
func (o groupsOptions) viewAll(ctx context.Context, env *session.Env, keep cmdutil.GroupFilter) (cmdutil.Output, error) {
	all, err := cmdutil.OfEach(ctx, env, "", func(key types.NamespacedName, _ *session.Cluster) groupsOrWhyNot {
		facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
		if err != nil {
			return groupsOrWhyNot{key: key, err: err}
		}
		return groupsOrWhyNot{key: key, groups: kept(env.Metadata(key), facts, keep)}
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	code, list := exit.ExitDone, inspect.NewGroupsOfAll(env.Metadata(types.NamespacedName{}), env.Clock.Now())
	for _, one := range all {
		if one.err != nil {
			code = exit.ExitUnreachable
			list.Warnings = append(list.Warnings, one.key.String()+" could not be read: "+exit.Explain(one.err))
			continue
		}
		list.Add(one.groups)
	}
	r := o.listed(env, list, "no process group of any cluster matches")
	r.Code = code
	return r, nil
}

// kept returns the process groups that a filter keeps.
func kept(m inspect.Metadata, facts inspect.Facts, keep cmdutil.GroupFilter) inspect.GroupListView {
	v := inspect.NewGroupListView(m, facts)
	v.Items = slices.DeleteFunc(v.Items, func(g inspect.GroupView) bool {
		return !keep(facts, facts.Cluster.ProcessGroup(v1beta2.ProcessGroupID(g.ID)))
	})
	return v
}

// runOverSites lists the process groups of the sites of one database.
func (o groupsOptions) runOverSites(ctx context.Context, env *session.Env, named []sites.Site, args []string) error {
	keep, err := o.Filter()
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check(), err); err != nil {
		return err
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.viewSites(ctx, env, named, args, keep) })
}

// viewSites reads all sites. One that cannot be read causes a warning and sets the exit code; the others are still shown.
func (o groupsOptions) viewSites(ctx context.Context, env *session.Env, named []sites.Site, args []string, keep cmdutil.GroupFilter) (cmdutil.Output, error) {
	opened, err := sites.Open(ctx, env, named, args, o.Name)
	if err != nil {
		return cmdutil.Output{}, err
	}
	all, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (inspect.GroupListView, error) {
		facts, err := reader.Facts(ctx)
		if err != nil {
			return inspect.GroupListView{}, err
		}
		return kept(site.Env.Metadata(reader.Key), facts, keep), nil
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	list := inspect.NewGroupsOfAll(env.Metadata(types.NamespacedName{}), env.Clock.Now())
	for _, one := range all {
		list.Add(one)
	}
	list.Unread = unread
	for _, site := range unread {
		list.Warnings = append(list.Warnings, site.Warning())
	}
	r := o.listed(env, list, "no process group of any site that was read matches")
	if len(unread) > 0 {
		r.Code = exit.ExitUnreachable
	}
	return r, nil
}
