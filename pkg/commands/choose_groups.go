package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// chooses reports whether anything is selected: an empty selection must not mean all groups.
func (s selection) chooses() bool {
	return len(s.ids)+len(s.classes)+len(s.conditions)+len(s.zones)+len(s.nodes) > 0 ||
		s.olderThan > 0 || s.removing || s.excluded || s.labels != ""
}

// readIDs takes the process groups from the arguments, and returns the cluster among them. An
// empty selection is a usage error.
func (s *selection) readIDs(env *Env, args []string, flag string) (cluster []string, err error) {
	cluster, ids := splitIDs(args, flag)
	s.ids, err = expandArgs(slices.Concat(ids, s.ids), env.In)
	if err == nil && !s.chooses() {
		err = usagef("process groups are required: as arguments, or selected with --class, --condition, --node, --zone or -l")
	}
	return cluster, err
}

// choose returns the process groups of a command: those named by ID, pod or address, or all,
// filtered by the flags.
func (s selection) choose(ctx context.Context, env *Env, key types.NamespacedName) ([]v1beta2.ProcessGroupID, error) {
	if _, err := s.filter(); err != nil {
		return nil, err // fail before reading
	}
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	if err != nil {
		return nil, err
	}
	return s.chooseFrom(env, key, facts)
}

// chooseFrom selects among the observed process groups.
func (s selection) chooseFrom(env *Env, key types.NamespacedName, facts inspect.Facts) ([]v1beta2.ProcessGroupID, error) {
	among, err := s.match(env, key, facts)
	if err != nil {
		return nil, err
	}
	if len(among) == 0 {
		return nil, usagef("no process group of %s matches (nothing was changed)", key.Name)
	}
	chosen := make([]v1beta2.ProcessGroupID, len(among))
	for i, g := range among {
		chosen[i] = g.ProcessGroupID
	}
	return chosen, nil
}

// match returns the named process groups, or all, filtered by the flags.
func (s selection) match(env *Env, key types.NamespacedName, facts inspect.Facts) ([]*v1beta2.ProcessGroupStatus, error) {
	keep, err := s.filter()
	if err != nil {
		return nil, err
	}
	named, err := groupsNamed(facts.Snapshot, s.ids)
	if err != nil {
		return nil, err
	}
	var among []*v1beta2.ProcessGroupStatus
	for _, v := range inspect.NewGroupListView(env.metadata(key), facts).Items {
		g := facts.Cluster.ProcessGroup(v1beta2.ProcessGroupID(v.ID))
		if (len(s.ids) == 0 || slices.Contains(named, g)) && keep(v, facts.Now) {
			among = append(among, g)
		}
	}
	return among, nil
}

// clusterThenGroups completes clusters for the first argument, and then process groups.
func (e *Env) clusterThenGroups(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 && cmd.Flag("fdb-cluster").Value.String() == "" {
		return e.firstArgument(cmd, args, typed)
	}
	groups := e.groupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) })
	return asCompletion(func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		cluster, ids := splitIDs(args, cmd.Flag("fdb-cluster").Value.String())
		return slices.DeleteFunc(groups(ctx, cmd, cluster), func(id string) bool {
			return slices.Contains(ids, id) || !strings.HasPrefix(id, typed)
		})
	})(cmd, args, typed)
}
