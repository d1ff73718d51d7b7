package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// MarkForRemoval marks process groups for removal; later stages replace, drain and delete
// them. Only KeepGroups reverts a mark.
type MarkForRemoval struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	At     time.Time                `json:"at" fingerprint:"-"`
	// WithoutExclusion removes them without draining them first.
	WithoutExclusion bool `json:"withoutExclusion,omitempty"`
}

// Describe implements Action.
func (a MarkForRemoval) Describe() string {
	if a.WithoutExclusion {
		return "mark for removal without draining (their replicas of data are deleted): " + a.Subject()
	}
	return "mark for removal: " + a.Subject()
}

// Subject implements Action.
func (a MarkForRemoval) Subject() string { return phrase.List(a.Groups) }

// Exclusions in progress are read only when a group is marked.
func (a MarkForRemoval) effect() Effect {
	if a.WithoutExclusion {
		return Effect{Stale: ClusterResource | Coordination, Locked: true, Impact: DataLoss}
	}
	return Effect{Stale: ClusterResource | Coordination, Impact: DataMove}
}

// Apply implements Edit.
func (a MarkForRemoval) Apply(s Snapshot) Snapshot {
	return editGroups(s, a.Groups, func(g *v1beta2.ProcessGroupStatus) {
		g.MarkForRemoval(a.At)
		if a.WithoutExclusion {
			g.ExclusionSkipped = true
			g.SetExcluded(a.At)
		}
	})
}

// KeepGroups reverts the marks of process groups that are not excluded, or not any more.
type KeepGroups struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
}

// Describe implements Action.
func (a KeepGroups) Describe() string { return "revert the mark for removal of " + a.Subject() }

// Subject implements Action.
func (a KeepGroups) Subject() string { return phrase.List(a.Groups) }

func (KeepGroups) effect() Effect {
	return Effect{Stale: ClusterResource | Coordination, Impact: NoImpact}
}

// Apply implements Edit.
func (a KeepGroups) Apply(s Snapshot) Snapshot {
	return editGroups(s, a.Groups, func(g *v1beta2.ProcessGroupStatus) {
		// With the mark goes what was recorded of the removal since.
		g.RemovalTimestamp, g.ExclusionTimestamp, g.ExclusionSkipped = nil, nil, false
		g.ClearCondition(v1beta2.ConditionResourcesTerminating)
	})
}

// SetExcluded records in the status that process groups are drained.
type SetExcluded struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	At     time.Time                `json:"at" fingerprint:"-"`
}

// Describe implements Action.
func (a SetExcluded) Describe() string { return "mark as drained: " + a.Subject() }

// Subject implements Action.
func (a SetExcluded) Subject() string { return phrase.List(a.Groups) }

func (SetExcluded) effect() Effect { return Effect{Stale: ClusterResource, Impact: NoImpact} }

// Apply implements Edit.
func (a SetExcluded) Apply(s Snapshot) Snapshot {
	return editGroups(s, a.Groups, func(g *v1beta2.ProcessGroupStatus) { g.SetExcluded(a.At) })
}

// Exclude excludes processes: the database moves data and roles off them. The action does
// not wait until that is complete.
type Exclude struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	// Targets are what is excluded: localities, or addresses without flags.
	Targets []string `json:"targets"`
}

// Describe implements Action.
func (a Exclude) Describe() string {
	return fmt.Sprintf("exclude %s (%s)", a.Subject(), strings.Join(a.Targets, " "))
}

// Subject implements Action.
func (a Exclude) Subject() string { return phrase.List(a.Groups) }

func (Exclude) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: DataMove}
}

// DeleteGroupObjects deletes the Kubernetes objects of a drained process group.
type DeleteGroupObjects struct {
	Group v1beta2.ProcessGroupID `json:"group"`
	// Pod, Claim and Service are names; empty where there is nothing to delete.
	Pod     string `json:"pod,omitempty"`
	Claim   string `json:"claim,omitempty"`
	Service string `json:"service,omitempty"`
	// UIDs are the identities of the objects that were checked, by name; a
	// service's name has the prefix "service/", since it is its pod's name too.
	UIDs map[string]types.UID `json:"uids,omitempty"`
	// Undrained is true when the group is removed without a proof that nothing depends on it,
	// so that no other control-plane instance may stop processes at the same time.
	Undrained bool `json:"undrained,omitempty"`
	// Evict is true when the eviction API deletes the pod, which respects disruption budgets. The
	// other objects stay until it has.
	Evict bool `json:"evict,omitempty"`
}

// Describe implements Action.
func (a DeleteGroupObjects) Describe() string {
	var words []string
	for _, object := range [][2]string{{"pod", a.Pod}, {"PVC", a.Claim}, {"service", a.Service}} {
		if object[1] != "" {
			words = append(words, object[0]+" "+object[1])
		}
	}
	if a.Evict {
		return fmt.Sprintf("evict the pod of %s and delete its objects: %s", a.Group, strings.Join(words, ", "))
	}
	return fmt.Sprintf("delete objects of %s: %s", a.Group, strings.Join(words, ", "))
}

// Subject implements Action.
func (a DeleteGroupObjects) Subject() string { return string(a.Group) }

func (a DeleteGroupObjects) effect() Effect {
	e := Effect{Stale: Pods | PodFiles | Volumes | Services | Database, Impact: ProcessRestart}
	if a.Undrained {
		e.Locked, e.Cooldown = true, fdb.DeathNoticedAfter
	}
	return e
}

// IncludeAndForget ends the exclusions of removed process groups, and then removes them from
// the status. The two are one action: an exclusion whose group is no longer in the status
// would stay forever.
type IncludeAndForget struct {
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	// Targets are the exclusions to end; empty where there are none.
	Targets []string `json:"targets,omitempty"`
}

// Describe implements Action.
func (a IncludeAndForget) Describe() string {
	if len(a.Targets) == 0 {
		return "remove " + a.Subject() + " from the status"
	}
	return fmt.Sprintf("include %s and remove %s from the status", strings.Join(a.Targets, " "), a.Subject())
}

// Subject implements Action.
func (a IncludeAndForget) Subject() string { return phrase.List(a.Groups) }

func (a IncludeAndForget) effect() Effect {
	if len(a.Targets) == 0 {
		return Effect{Stale: ClusterResource, Impact: NoImpact}
	}
	return Effect{Stale: ClusterResource | Database | Coordination, Locked: true, Impact: Recovery}
}

// DropRecords is the part of the action that changes the status.
func (a IncludeAndForget) DropRecords(s Snapshot) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	var kept []*v1beta2.ProcessGroupStatus
	for _, g := range s.Cluster.Status.ProcessGroups {
		if !slices.Contains(a.Groups, g.ProcessGroupID) {
			kept = append(kept, g)
		}
	}
	s.Cluster.Status.ProcessGroups = kept
	return s
}

// Include ends exclusions that no removal needs. The process groups remain in the status.
type Include struct {
	// Groups are the process groups of these exclusions, as far as they are known.
	Groups []v1beta2.ProcessGroupID `json:"groups,omitempty"`
	// Targets are what is included: localities, or addresses without flags.
	Targets []string `json:"targets"`
}

// Describe implements Action.
func (a Include) Describe() string { return "include " + strings.Join(a.Targets, " ") }

// Subject implements Action.
func (a Include) Subject() string { return strings.Join(a.Targets, ", ") }

func (Include) effect() Effect {
	return Effect{Stale: Database | Coordination, Locked: true, Impact: Recovery}
}

func editGroups(s Snapshot, ids []v1beta2.ProcessGroupID, edit func(*v1beta2.ProcessGroupStatus)) Snapshot {
	s.Cluster = s.Cluster.DeepCopy()
	for _, g := range s.Cluster.Status.ProcessGroups {
		if slices.Contains(ids, g.ProcessGroupID) {
			edit(g)
		}
	}
	return s
}
