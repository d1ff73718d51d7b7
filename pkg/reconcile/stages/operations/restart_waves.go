package operations

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// RestartStrategy is how many process groups restart at once.
type RestartStrategy string

// The strategies.
const (
	// RestartByWave restarts the groups of one class at once: of classes that hold data, and of
	// coordinators, those of one fault domain.
	RestartByWave RestartStrategy = "wave"
	// RestartRolling restarts one process group at a time.
	RestartRolling RestartStrategy = "rolling"
	// RestartAllAtOnce restarts all of them at once, which costs one recovery; the database is
	// unavailable until they report.
	RestartAllAtOnce RestartStrategy = "all-at-once"
)

// RestartStrategies returns all strategies, the default first.
func RestartStrategies() []RestartStrategy {
	return []RestartStrategy{RestartByWave, RestartRolling, RestartAllAtOnce}
}

// Next returns the due groups that restart now.
func (r RestartStrategy) Next(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) []*v1beta2.ProcessGroupStatus {
	switch r {
	case RestartAllAtOnce:
		return due
	case RestartByWave:
		return slices.DeleteFunc(slices.Clone(due), func(g *v1beta2.ProcessGroupStatus) bool { return !sameWave(s, due[0], g) })
	case RestartRolling:
	}
	return due[:1]
}

func sameWave(s plan.Snapshot, first, g *v1beta2.ProcessGroupStatus) bool {
	switch {
	case g.ProcessGroupID == first.ProcessGroupID:
		return true
	case g.ProcessClass != first.ProcessClass:
		return false
	case staysUpElsewhere(s, first) || staysUpElsewhere(s, g):
		return g.FaultDomain != "" && g.FaultDomain == first.FaultDomain
	default:
		return true
	}
}

// staysUpElsewhere reports whether the database is available only as long as other fault domains
// have the roles of this group. A group without a class may have any role.
func staysUpElsewhere(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return g.ProcessClass.IsStateful() || g.ProcessClass == v1beta2.ProcessClassUnset || safety.Coordinates(s, g)
}

// restartRank puts storage first, which costs no recovery. Groups without data come last.
func restartRank(g *v1beta2.ProcessGroupStatus) int {
	switch {
	case g.ProcessClass == v1beta2.ProcessClassStorage:
		return 0
	case g.ProcessClass.IsStateful() || g.ProcessClass == v1beta2.ProcessClassUnset:
		return 1
	default:
		return 2 + slices.Index(v1beta2.ProcessClasses(), g.ProcessClass)
	}
}
