package cmdutil

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Chooses reports whether anything is selected: an empty selection must not mean all groups.
func (s Selection) Chooses() bool {
	return len(s.IDs)+len(s.Classes)+len(s.Conditions)+len(s.Zones)+len(s.Nodes) > 0 ||
		s.OlderThan > 0 || s.Removing || s.Excluded || s.Labels != ""
}

// ReadIDs takes the process groups from the arguments, and returns the cluster among them. An
// empty selection is a usage error.
func (s *Selection) ReadIDs(ctx context.Context, env *session.Env, args []string, flag string) (cluster []string, err error) {
	cluster, ids := session.GroupArgs(ctx, env, args, flag)
	s.IDs, err = ExpandArgs(slices.Concat(ids, s.IDs), env.In)
	if err == nil && !s.Chooses() {
		err = exit.Usagef("process groups are required: as arguments, or selected with --class, --condition, --node, --zone or -l")
	}
	return cluster, err
}

// Choose returns the process groups of a command: those named by ID, pod or address, or all,
// filtered by the flags.
func (s Selection) Choose(ctx context.Context, env *session.Env, key types.NamespacedName) ([]v1beta2.ProcessGroupID, error) {
	if _, err := s.Filter(); err != nil {
		return nil, err // fail before reading
	}
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return s.ChooseFrom(key, facts)
}

// ChooseFrom selects among the observed process groups.
func (s Selection) ChooseFrom(key types.NamespacedName, facts inspect.Facts) ([]v1beta2.ProcessGroupID, error) {
	among, err := s.Match(facts)
	if err != nil {
		return nil, err
	}
	if len(among) == 0 {
		return nil, exit.Usagef("no process group of %s matches (nothing was changed)", key.Name)
	}
	chosen := make([]v1beta2.ProcessGroupID, len(among))
	for i, g := range among {
		chosen[i] = g.ProcessGroupID
	}
	return chosen, nil
}

// Match returns the named process groups, or all, filtered by the flags.
func (s Selection) Match(facts inspect.Facts) ([]*v1beta2.ProcessGroupStatus, error) {
	keep, err := s.Filter()
	if err != nil {
		return nil, err
	}
	named, err := session.GroupsNamed(facts.Snapshot, s.IDs)
	if err != nil {
		return nil, err
	}
	var among []*v1beta2.ProcessGroupStatus
	for _, g := range facts.Groups() {
		if (len(s.IDs) == 0 || slices.Contains(named, g)) && keep(facts, g) {
			among = append(among, g)
		}
	}
	return among, nil
}
