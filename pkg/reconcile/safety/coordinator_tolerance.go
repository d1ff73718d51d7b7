package safety

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// CoordinatorTolerance is how many sites and zones may be lost at once, at worst, while a quorum of the
// coordinators remains. It is negative without a quorum.
type CoordinatorTolerance struct {
	// Sites are data centers or data halls, whichever the spec spreads coordinators over;
	// 0 where it spreads them over neither.
	Sites int
	// Zones are fault domains.
	Zones int
}

// StrongerThan reports whether t is higher in one number and lower in none.
func (t CoordinatorTolerance) StrongerThan(other CoordinatorTolerance) bool {
	return t != other && t.Sites >= other.Sites && t.Zones >= other.Zones
}

// ToleranceOfCoordinators computes the tolerance of a number of coordinators, of which those with the given
// localities are alive.
func ToleranceOfCoordinators(c *v1beta2.FoundationDBCluster, all int, alive []map[string]string) CoordinatorTolerance {
	t := CoordinatorTolerance{Zones: losable(all, alive, fdb.LocalityZoneID)}
	if site := CoordinatorSite(c); site != "" {
		t.Sites = losable(all, alive, site)
	}
	return t
}

// CoordinatorSite is the locality above the fault domain that limits coordinators; empty
// for none.
func CoordinatorSite(c *v1beta2.FoundationDBCluster) string {
	limits := CoordinatorLimits(c)
	for _, field := range []string{fdb.LocalityDCID, fdb.LocalityDataHall} {
		if _, limited := limits[field]; limited {
			return field
		}
	}
	return ""
}

// losable is how many values of a locality may be lost, those with most coordinators first.
func losable(all int, alive []map[string]string, field string) int {
	quorum, left := all/2+1, len(alive)
	if left < quorum {
		return -1
	}
	shares := map[string]int{}
	for _, localities := range alive {
		shares[localities[field]]++
	}
	lost := 0
	for _, share := range slices.Backward(slices.Sorted(maps.Values(shares))) {
		if left -= share; left < quorum {
			break
		}
		lost++
	}
	return lost
}
