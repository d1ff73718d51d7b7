package lists

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Leftovers are what operations begin and end later, as it is on a cluster now, whichever run
// began it.
type Leftovers struct {
	Items []Leftover
	// Unknown are the kinds that could not be read.
	Unknown []LeftoverKind
}

// Leftover is one thing that is half done, and the commands to complete and to revert it.
type Leftover struct {
	Kind LeftoverKind
	// Subjects are process groups, nodes, a zone, or the owner of a lock.
	Subjects []string
	// Complete carries it to its end; empty where only reverting ends it.
	Complete string
	// Revert undoes it; empty where that is impossible.
	Revert string
}

// LeftoverKind is what was begun.
type LeftoverKind string

// The kinds.
const (
	// LeftMarked are process groups that are marked for removal and not excluded.
	LeftMarked LeftoverKind = "marked"
	// LeftMarkedExcluded are process groups that are marked for removal and excluded.
	LeftMarkedExcluded LeftoverKind = "marked-excluded"
	// LeftRemoving are process groups that are drained or have no pod, and can only be removed.
	LeftRemoving LeftoverKind = "removing"
	// LeftExcluded are excluded process groups that are not marked for removal.
	LeftExcluded LeftoverKind = "excluded"
	// LeftWithoutPod are process groups whose pods were deleted and not recreated.
	LeftWithoutPod LeftoverKind = "without-pod"
	// LeftCordoned are nodes of the cluster's pods that are cordoned.
	LeftCordoned LeftoverKind = "cordoned"
	// LeftMaintenance is a zone under maintenance.
	LeftMaintenance LeftoverKind = "maintenance"
	// LeftLock is the database lock.
	LeftLock LeftoverKind = "lock"
)

// Text returns what was begun, as text for users.
func (l Leftover) Text() string {
	names, n := phrase.List(l.Subjects), len(l.Subjects)
	switch l.Kind {
	case LeftMarked:
		return names + " " + phrase.Is(n) + " marked for removal, and not excluded"
	case LeftMarkedExcluded:
		return names + " " + phrase.Is(n) + " marked for removal and excluded"
	case LeftRemoving:
		return names + " " + phrase.Is(n) + " being removed"
	case LeftExcluded:
		return names + " " + phrase.Is(n) + " excluded, and not marked for removal"
	case LeftWithoutPod:
		return names + " " + phrase.Has(n) + " no pod"
	case LeftCordoned:
		return "node " + names + " is cordoned"
	case LeftMaintenance:
		return "zone " + names + " is under maintenance"
	case LeftLock:
		return names + " holds the database lock"
	}
	return names
}

// Text returns the kind as text for users: those that may be unknown.
func (k LeftoverKind) Text() string {
	return map[LeftoverKind]string{
		LeftExcluded: "exclusions", LeftCordoned: "cordoned nodes", LeftMaintenance: "zones under maintenance", LeftLock: "the database lock",
	}[k]
}

// NewLeftovers finds them in what was observed.
func NewLeftovers(f inspect.Facts, c inspect.Commands) Leftovers {
	l := leftovers{Facts: f, fdb: c.FDB, cluster: f.Cluster.Name}
	l.groups()
	l.nodes()
	l.database()
	return l.found
}

type leftovers struct {
	inspect.Facts
	fdb     func(...string) string
	cluster string
	found   Leftovers
}

func (l *leftovers) unknown(kinds ...LeftoverKind) {
	l.found.Unknown = append(l.found.Unknown, kinds...)
}

// groups adds the process groups, by what was begun with them.
func (l *leftovers) groups() {
	of := map[LeftoverKind][]string{}
	for _, g := range l.Groups() {
		if kind := l.kindOf(g); kind != "" {
			of[kind] = append(of[kind], string(g.ProcessGroupID))
		}
	}
	if l.Database.Status == nil {
		l.unknown(LeftExcluded)
	}
	passes := l.fdb("reconcile", l.cluster, "--wait")
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		left := Leftover{Kind: kind, Subjects: of[kind], Complete: passes}
		if verb, flags := revertOf(kind); verb != "" {
			left.Revert = l.fdb(slices.Concat([]string{verb, l.cluster}, of[kind], flags)...)
		}
		if kind == LeftExcluded {
			left.Complete = ""
		}
		l.found.Items = append(l.found.Items, left)
	}
}

// revertOf returns the command that reverts what was begun with process groups; empty where that is
// impossible.
func revertOf(kind LeftoverKind) (verb string, flags []string) {
	switch kind {
	case LeftMarked:
		return "replace", []string{"--undo"}
	case LeftMarkedExcluded:
		return "replace", []string{"--undo", "--include", "--wait"}
	case LeftExcluded:
		return "include", []string{"--wait"}
	case LeftRemoving, LeftWithoutPod, LeftCordoned, LeftMaintenance, LeftLock:
	}
	return "", nil
}

// kindOf returns what was begun with a process group; empty for nothing.
func (l *leftovers) kindOf(g *v1beta2.ProcessGroupStatus) LeftoverKind {
	excluded := g.HasCondition(v1beta2.ConditionProcessIsMarkedAsExcluded) || l.IsExcludedInDatabase(g)
	switch {
	case g.IsMarkedForRemoval() && (g.IsRemovable() || l.Pod(g) == nil):
		return LeftRemoving
	case g.IsMarkedForRemoval() && excluded:
		return LeftMarkedExcluded
	case g.IsMarkedForRemoval():
		return LeftMarked
	case l.Pod(g) == nil:
		return LeftWithoutPod
	case excluded:
		return LeftExcluded
	}
	return ""
}

// nodes adds the nodes of the cluster's pods that are cordoned, or have a taint of cordon.
func (l *leftovers) nodes() {
	if l.NodesHidden != "" {
		l.unknown(LeftCordoned)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Nodes)) {
		node := l.Nodes[name]
		if _, tainted := node.Annotations[plan.AnnotationCordonTaints]; !tainted && (!node.Spec.Unschedulable || len(l.GroupsByNode()[name]) == 0) {
			continue
		}
		l.found.Items = append(l.found.Items, Leftover{Kind: LeftCordoned, Subjects: []string{name}, Revert: l.fdb("uncordon", l.cluster, name)})
	}
}

// database adds maintenance and the lock that this control-plane instance holds.
func (l *leftovers) database() {
	if s := l.Database.Status; s == nil {
		l.unknown(LeftMaintenance)
	} else if m, known := s.Maintenance(); !known {
		l.unknown(LeftMaintenance)
	} else if m.Active() {
		l.found.Items = append(l.found.Items, Leftover{Kind: LeftMaintenance, Subjects: []string{m.Zone}, Revert: l.fdb("maintenance", "off", l.cluster)})
	}
	if !l.Cluster.LocksUsed() {
		return
	}
	if !l.Coordination.Read {
		l.unknown(LeftLock)
		return
	}
	if lock := l.Lock(); lock.State == inspect.LockHeld && lock.Mine != nil && *lock.Mine {
		owner := *lock.Owner
		if lock.ManualHolder != nil {
			owner = *lock.ManualHolder
		}
		l.found.Items = append(l.found.Items, Leftover{Kind: LeftLock, Subjects: []string{owner}, Revert: l.fdb("locks", "release", l.cluster)})
	}
}
