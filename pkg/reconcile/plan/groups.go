package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// GroupsOf returns the process groups of an action, none for one about the cluster or the
// database as a whole. An action that only writes the status of all groups has none.
func GroupsOf(a Action) []v1beta2.ProcessGroupID {
	switch a := a.(type) { //nolint:gochecksumtype // groupOf has those about one group
	case AddGroups:
		return each(a.Groups, func(g NewGroup) v1beta2.ProcessGroupID { return g.ID })
	case DeletePods:
		return each(a.Pods, func(p PodOfGroup) v1beta2.ProcessGroupID { return p.Group })
	case ChangeLists:
		return a.groups()
	case MarkForRemoval:
		return a.Groups
	case KeepGroups:
		return a.Groups
	case SetExcluded:
		return a.Groups
	case Exclude:
		return a.Groups
	case Include:
		return a.Groups
	case IncludeAndForget:
		return a.Groups
	case RestartProcesses:
		return a.Groups
	case StartMaintenance:
		return a.Groups
	case ForgetMaintenance:
		return a.Groups
	case AnnounceUpgrade:
		return a.Groups
	case WithdrawUpgrade:
		return a.Groups
	case RecordFailures:
		return a.Groups
	default:
		return one(groupOf(a))
	}
}

// groupOf is the process group of an action about a single one; empty for others.
func groupOf(a Action) v1beta2.ProcessGroupID {
	switch a := a.(type) { //nolint:gochecksumtype // GroupsOf has the ones about several; all others are about none
	case CreatePod:
		return a.Group
	case CreatePVC:
		return a.Group
	case ApplyService:
		return a.Group
	case SyncPodFiles:
		return a.Group
	case PatchMetadata:
		return a.Group
	case AdoptSpec:
		return a.Group
	case SetSidecarImage:
		return a.Group
	case DeleteGroupObjects:
		return a.Group
	}
	return ""
}

func one(id v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	if id == "" {
		return nil
	}
	return []v1beta2.ProcessGroupID{id}
}

func each[T any](of []T, id func(T) v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	ids := make([]v1beta2.ProcessGroupID, len(of))
	for i, item := range of {
		ids[i] = id(item)
	}
	return ids
}

// groups are those of the entries that change, in order.
func (a ChangeLists) groups() []v1beta2.ProcessGroupID {
	groups := slices.Collect(maps.Keys(a.Addresses))
	for _, lists := range []map[fdb.SharedList][]v1beta2.ProcessGroupID{a.Add, a.Remove} {
		for _, of := range lists {
			groups = append(groups, of...)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}
