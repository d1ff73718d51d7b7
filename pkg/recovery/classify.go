package recovery

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Kind is a kind of loss. It is part of plans and documents: once released, it keeps its meaning.
type Kind string

// The kinds.
const (
	// NothingLost means that a quorum answers and the database is available.
	NothingLost Kind = "nothing-lost"
	// CoordinatorsMoved means that coordinators have other addresses, and their volumes.
	CoordinatorsMoved Kind = "coordinators-moved"
	// PodsLost means that pods are missing whose PVCs exist.
	PodsLost Kind = "pods-lost"
	// VolumesReleased means that PVCs are missing whose volumes exist.
	VolumesReleased Kind = "volumes-released"
	// CoordinatorsLost means that a majority of coordinators has neither pod nor PVC.
	CoordinatorsLost Kind = "coordinators-lost"
	// RegionLost means that the coordinators of this resource answer, and too few of those of other resources.
	RegionLost Kind = "region-lost"
	// DatabaseDown means that a quorum answers and the database does not, as after an exclusion
	// of too many processes or with full disks.
	DatabaseDown Kind = "database-down"
	// Undetermined means that the facts do not show why no quorum answers.
	Undetermined Kind = "undetermined"
)

// Assessment is the kind of loss, what can be saved and what may be lost.
type Assessment struct {
	Kind Kind `json:"kind"`
	// Saved is what a recovery gets back, Lost what may be lost, one sentence each.
	Saved string `json:"saved"`
	Lost  string `json:"lost"`
	// Evidence is why it is this kind, with numbers.
	Evidence []string `json:"evidence"`
	// Handled is whether recover apply can carry out a plan for it.
	Handled bool `json:"handled"`
	// Obstacles are why it cannot, where the kind itself is handled.
	Obstacles []string `json:"obstacles"`
	// Moves are the coordinators of CoordinatorsMoved, in the order of the connection string; empty
	// for other kinds.
	Moves []Move `json:"moves"`
	// Copy is what happens to coordination state; null for kinds but CoordinatorsLost.
	Copy *CoordinationCopy `json:"copy,omitempty"`
}

// Move is a coordinator and its address now.
type Move struct {
	Group string `json:"group"`
	Pod   string `json:"pod"`
	From  string `json:"from"`
	// To is the address now; the same as From for one that did not move.
	To string `json:"to"`
	// By is how the process group was identified.
	By Identification `json:"by"`
}

// Identification is how the process group of a coordinator was found.
type Identification string

const (
	// ByStatus means that the status has the old address as one of the process group.
	ByStatus Identification = "status"
	// ByFiles means that exactly as many volumes have coordination files as there are coordinators
	// without an address in the status.
	ByFiles Identification = "coordination-files"
)

// Assess determines what was lost. What is unknown is never taken for a loss, nor for its absence.
func Assess(f Facts) Assessment {
	switch {
	case f.Recorded == "" && !f.inferred():
		return assessment(Undetermined, "unknown", "unknown", "the status has no connection string")
	case f.Quorum != nil && !f.asks(f.Recorded):
		return assessment(Undetermined, "unknown", "unknown", "the pods use other coordinators than those of the status: "+phrase.List(f.Queried))
	case isTrue(f.Available) && isTrue(f.Quorum):
		return assessment(NothingLost, "everything", "nothing", append([]string{"a quorum of coordinators answers and the database is available"}, f.Outage.tooFull()...)...)
	case isTrue(f.Quorum) && len(f.emptyQuorum()) > 0:
		a := assessment(CoordinatorsMoved, "unknown", "unknown", "a quorum without coordination state answers at the addresses of coordinators")
		a.Obstacles = f.obstacles()
		return a
	case isTrue(f.Quorum):
		return databaseDown(f)
	}
	for _, assess := range []func(Facts) (Assessment, bool){released, regionLost, coordinatorsLost, podsLost, moved} {
		if a, is := assess(f); is {
			return a
		}
	}
	return assessment(Undetermined, "unknown", "unknown", "all coordinators have a running pod at their address, or their state is unknown")
}

func assessment(k Kind, saved, lost string, evidence ...string) Assessment {
	return Assessment{Kind: k, Saved: saved, Lost: lost, Evidence: evidence, Obstacles: []string{}, Moves: []Move{}}
}

func isTrue(known *bool) bool { return known != nil && *known }

// quorum is how many coordinators must answer.
func quorum(f Facts) int { return len(f.Coordinators)/2 + 1 }

// moved finds coordinators whose processes have other addresses now.
func moved(f Facts) (Assessment, bool) {
	moves, obstacles := f.moves()
	anyMoved := slices.ContainsFunc(moves, func(m Move) bool { return m.From != m.To })
	removed := 0
	for _, c := range f.Coordinators {
		if address, err := fdb.ParseAddress(c.Address); err == nil && address.IsIP() && f.at(address.Host) == nil {
			removed++
		}
	}
	if !anyMoved && removed == 0 {
		return Assessment{}, false
	}
	a := assessment(CoordinatorsMoved, "everything: the coordination state is in the volumes", "nothing",
		phrase.CountOf(removed, len(f.Coordinators), "coordinator address")+" without a pod of the cluster")
	for _, m := range moves {
		a.Evidence = append(a.Evidence, fmt.Sprintf("%s: %s is now %s", m.Group, m.From, m.To))
	}
	obstacles = append(obstacles, f.obstacles()...)
	if len(obstacles) > 0 {
		a.Saved, a.Lost = "unknown", "unknown"
		a.Obstacles = obstacles
		return a, true
	}
	a.Handled, a.Moves = true, moves
	return a, true
}

// groupOf returns the process group that the status has at the address of a coordinator.
func (f Facts) groupOf(c Coordinator) *Group {
	address, err := fdb.ParseAddress(c.Address)
	if err != nil {
		return nil
	}
	for i, g := range f.Groups {
		if g.isAt(address.Host) {
			return &f.Groups[i]
		}
	}
	return nil
}

// at returns the process group whose pod has an address now.
func (f Facts) at(host string) *Group {
	for i, g := range f.Groups {
		if g.nowAt(host) {
			return &f.Groups[i]
		}
	}
	return nil
}
