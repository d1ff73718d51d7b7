package commands

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// runOnAll lists the process groups of the clusters of all namespaces.
func (o groupsOptions) runOnAll(ctx context.Context, env *Env, named bool, keep groupFilter) error {
	if err := errors.Join(o.outputFlags.check(), o.pollOptions.check()); err != nil {
		return err
	}
	if named {
		return usagef("-A conflicts with names of clusters and process groups")
	}
	return o.pollOptions.run(ctx, env, o.outputFlags, func(ctx context.Context) (output, error) { return o.viewAll(ctx, env, keep) })
}

// groupsOrWhyNot holds the process groups of one cluster of several, or the error.
type groupsOrWhyNot struct {
	key    types.NamespacedName
	groups inspect.GroupListView
	err    error
}

// viewAll reads all clusters. One that cannot be read causes a warning and sets the exit code;
// the others are still shown.
func (o groupsOptions) viewAll(ctx context.Context, env *Env, keep groupFilter) (output, error) {
	all, err := ofEach(ctx, env, "", func(key types.NamespacedName, _ *cluster) groupsOrWhyNot {
		facts, err := clusterReader{env: env, key: key}.facts(ctx)
		if err != nil {
			return groupsOrWhyNot{key: key, err: err}
		}
		v := inspect.NewGroupListView(env.metadata(key), facts)
		v.Items = slices.DeleteFunc(v.Items, func(g inspect.GroupView) bool { return !keep(g, facts.Now) })
		return groupsOrWhyNot{key: key, groups: v}
	})
	if err != nil {
		return output{}, err
	}
	code, list := ExitDone, inspect.NewGroupsOfAll(env.metadata(types.NamespacedName{}), env.Clock.Now())
	for _, one := range all {
		if one.err != nil {
			code = ExitUnreachable
			list.Warnings = append(list.Warnings, one.key.String()+" could not be read: "+explain(one.err))
			continue
		}
		list.Add(one.groups)
	}
	r := o.listed(env, list, "no process group of any cluster matches")
	r.code = code
	return r, nil
}
