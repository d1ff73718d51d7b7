package readings

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Exclusions classifies the groups to remove into those that can be excluded, those that are
// excluded already, and those that have to wait.
type Exclusions struct {
	S            plan.Snapshot
	Candidates   []*v1beta2.ProcessGroupStatus
	targets      map[v1beta2.ProcessGroupID][]string
	Ongoing      map[v1beta2.ProcessClass]int
	Coordinators []string
	Unreachable  []string // they have no address, and the version does not know localities
}

// NewExclusions returns one that has classified no group yet.
func NewExclusions(s plan.Snapshot) *Exclusions {
	return &Exclusions{S: s, targets: map[v1beta2.ProcessGroupID][]string{}, Ongoing: map[v1beta2.ProcessClass]int{}}
}

// Classify adds a group. It is excluded already if that is in the status document or in the list of
// exclusions: the document may be older, and what is excluded twice would count as a process that
// stays.
func (e *Exclusions) Classify(g *v1beta2.ProcessGroupStatus) {
	targets := slices.DeleteFunc(e.TargetsOf(g), func(t string) bool {
		return slices.Contains(e.S.Database.Status.ExcludedTargets(), t) || slices.Contains(e.S.Coordination.Exclusions, t)
	})
	switch {
	case len(e.TargetsOf(g)) == 0:
		e.Unreachable = append(e.Unreachable, string(g.ProcessGroupID))
	case len(targets) == 0:
		e.Ongoing[g.ProcessClass]++
	case safety.Coordinates(e.S, g):
		e.Coordinators = append(e.Coordinators, string(g.ProcessGroupID))
	default:
		e.Candidates = append(e.Candidates, g)
		e.targets[g.ProcessGroupID] = targets
	}
}

// TargetsOf returns what a group is excluded by. One that never had an address is excluded by
// its ID even where addresses are preferred, or it could never be removed.
func (e *Exclusions) TargetsOf(g *v1beta2.ProcessGroupStatus) []string {
	if safety.ByLocality(e.S.Cluster) || (len(g.Addresses) == 0 && safety.CanExcludeLocalities(e.S.Cluster)) {
		return []string{g.ExclusionString()}
	}
	return slices.Clone(g.Addresses)
}

func (e *Exclusions) Exclusion(groups []*v1beta2.ProcessGroupStatus) plan.Exclude {
	action := plan.Exclude{}
	for _, g := range groups {
		action.Groups = append(action.Groups, g.ProcessGroupID)
		action.Targets = append(action.Targets, e.targets[g.ProcessGroupID]...)
	}
	return action
}
