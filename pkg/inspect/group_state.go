package inspect

import "github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"

// GroupState is what the processes of a process group do, in a word. Its conditions come on top: GroupView.Tone has both.
type GroupState string

// The states of process groups.
const (
	// GroupUp has processes that report, and stays.
	GroupUp GroupState = "up"
	// GroupDraining is marked for removal or excluded.
	GroupDraining GroupState = "draining"
	// GroupDown has no process that reports.
	GroupDown GroupState = "down"
	// GroupNew has none yet: its zone is recorded when the first one reports.
	GroupNew GroupState = "new"
	// GroupUnknown is of a database that does not list its processes.
	GroupUnknown GroupState = "unknown"
)

// State returns what the processes of the group do. The mark of its row and its symbol on the map follow from it.
func (v GroupView) State() GroupState {
	switch {
	case v.Processes == nil:
		return GroupUnknown
	case *v.Processes == 0 && v.RemovalSince == nil && v.Zone == "":
		return GroupNew
	case *v.Processes == 0 && v.RemovalSince == nil:
		return GroupDown
	case v.isDraining():
		return GroupDraining
	default:
		return GroupUp
	}
}

// isDraining reports whether the group is marked for removal, or is to be excluded.
func (v GroupView) isDraining() bool {
	return v.RemovalSince != nil || v.Exclusion != NotExcluded && v.Exclusion != ExclusionUnknown
}

func (s GroupState) tone() list.Tone {
	switch s {
	case GroupUp:
		return list.Good
	case GroupDraining, GroupNew:
		return list.Warn
	case GroupDown:
		return list.Bad
	default:
		return list.Unsure
	}
}
