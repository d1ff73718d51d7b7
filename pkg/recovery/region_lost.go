package recovery

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// regionLost finds a database in several regions whose coordinators of this resource all answer, while
// those of other resources, which are no quorum without them, do not. Nothing here is lost, and what became
// of the others only their resources show.
func regionLost(f Facts) (Assessment, bool) {
	own, elsewhere := 0, []string{}
	for _, c := range f.Coordinators {
		switch owners := len(f.ownersOf(c)); {
		case owners == 0:
			elsewhere = append(elsewhere, c.Address)
		case !isTrue(c.Reachable):
			return Assessment{}, false
		default:
			own++
		}
	}
	if f.Placement.Regions < 2 || own == 0 || own >= quorum(f) || f.Quorum == nil {
		return Assessment{}, false
	}
	a := assessment(RegionLost, "what the process groups of this resource have, once a majority of coordinators is back",
		"what the other region had committed and this one does not have yet, if its volumes are lost: an unknown amount; else nothing",
		fmt.Sprintf("%s, %d required", phrase.CountOf(own, len(f.Coordinators), "coordinator")+" of this resource "+phrase.Either(own, "answers", "answer"), quorum(f)),
		phrase.Count(len(elsewhere), "coordinator")+" of no process group in the status: "+phrase.List(elsewhere))
	a.Obstacles = append(a.Obstacles, fmt.Sprintf("the spec has %s: what is left of the other coordinators only the resources of the other region show", phrase.Count(f.Placement.Regions, "region")))
	return a, true
}
