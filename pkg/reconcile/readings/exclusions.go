package readings

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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

// Concerns reports whether an exclusion covers a group, or covered it when it last reported.
func Concerns(s plan.Snapshot, target string, g *v1beta2.ProcessGroupStatus) bool {
	return target == g.ExclusionString() || slices.Contains(g.Addresses, HostIn(target)) ||
		target == LocalityPrefix+fdb.LocalityZoneID+":"+string(g.FaultDomain) ||
		slices.ContainsFunc(s.Database.Status.ProcessesOf(string(g.ProcessGroupID)), func(p fdb.Process) bool { return Matches(target, p) })
}

// LocalityPrefix is the prefix of exclusions by locality.
const LocalityPrefix = "locality_"

// Matches reports whether an exclusion covers a process.
func Matches(target string, p fdb.Process) bool {
	if locality, is := strings.CutPrefix(target, LocalityPrefix); is {
		key, value, _ := strings.Cut(locality, ":")
		return value != "" && p.Locality[key] == value
	}
	return target == p.Address.Host || target == p.Address.HostPort()
}

// HostIn returns the address of an exclusion without its port; empty for a locality.
func HostIn(target string) string {
	if strings.HasPrefix(target, LocalityPrefix) {
		return ""
	}
	if a, err := fdb.ParseAddress(target); err == nil {
		return a.Host
	}
	return target
}

// IDsOf returns the IDs of process groups, in their order.
func IDsOf(groups []*v1beta2.ProcessGroupStatus) []v1beta2.ProcessGroupID {
	all := make([]v1beta2.ProcessGroupID, len(groups))
	for i, g := range groups {
		all[i] = g.ProcessGroupID
	}
	return all
}

// IsOwnAndRemoved reports whether a process group is of this cluster by its ID and not in the
// status any more.
func IsOwnAndRemoved(s plan.Snapshot, id v1beta2.ProcessGroupID) bool {
	prefix, _, _, err := id.Split()
	return err == nil && prefix == s.Cluster.Spec.ProcessGroupIDPrefix && s.Cluster.ProcessGroup(id) == nil
}
