package safety

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// coordinatorLimit is how long a coordinator that does not report may be restarting.
// Default 2 min, as for recoveries: the end of a storage process causes none, so the age of
// the last one does not show how long such a coordinator has been missing.
const coordinatorLimit = 2 * time.Minute

// StaysAway checks whether one of the coordinators that do not report is lost: missing for a
// while, or at an address that no pod has any more. If the loss of one more would take the
// quorum, a coordinator whose pod was not just created is lost at once.
//
// Coordinators of other control-plane instances are not in this status, and count as lost: a
// pass that takes one down holds the lock meanwhile.
func StaysAway(s plan.Snapshot, missing []fdb.Address) plan.Check {
	c := plan.Check{ID: plan.CheckCoordinatorAway, Question: "is a coordinator that does not report lost?", Gate: plan.GateCoord, Need: fmt.Sprintf("missing for %s", coordinatorLimit)}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	if len(s.Database.Status.Coordinators()) == 0 {
		c.Evidence = unreportedCoordinators
		return c
	}
	expected := mayComeBack
	if quorumAtRisk(s.Database.Status) {
		expected = comesBackAtOnce
	}
	var back []string
	for _, address := range missing {
		why := expected(s, address)
		if why == "" {
			c.OK, c.Evidence = true, fmt.Sprintf("coordinator %s does not report and is not expected back", coordinatorName(s, address))
			return c
		}
		back = append(back, why)
	}
	c.OK, c.Evidence = len(back) == 0, strings.Join(back, "; ")
	return c
}

// quorumAtRisk reports whether the loss of one more coordinator would take the quorum.
func quorumAtRisk(status *fdb.Status) bool {
	all := status.Client.Coordinators.Coordinators
	reachable := 0
	for _, c := range all {
		if c.Reachable {
			reachable++
		}
	}
	majority := len(all)/2 + 1
	return reachable < majority+1
}

// groupOfMissing returns the process group whose process may serve a coordinator's address again.
func groupOfMissing(s plan.Snapshot, address fdb.Address) *v1beta2.ProcessGroupStatus {
	g := groupAt(s, address)
	if g == nil || g.IsRemovable() || hasOtherAddress(s, g, address) {
		return nil
	}
	return g
}

// comesBackAtOnce returns why a coordinator whose pod terminates, or was just created, may not
// report yet; empty for others.
func comesBackAtOnce(s plan.Snapshot, address fdb.Address) string {
	g := groupOfMissing(s, address)
	if g == nil {
		return ""
	}
	return justMade(s, g)
}

// mayComeBack returns why a coordinator that does not report may report again soon; empty
// when it is not expected to.
func mayComeBack(s plan.Snapshot, address fdb.Address) string {
	if why := comesBackAtOnce(s, address); why != "" {
		return why
	}
	g := groupOfMissing(s, address)
	if g == nil {
		return ""
	}
	since, missing := missingSince(g)
	if !missing && reportsLong(s, g) {
		return "" // it reports, but not as this coordinator
	}
	if !missing {
		return fmt.Sprintf("%s does not report, since when is unknown", g.ProcessGroupID)
	}
	if away := s.Now.Sub(since); away < coordinatorLimit {
		return fmt.Sprintf("%s, %s required", describeMissing(s, g, since), coordinatorLimit)
	}
	return ""
}

// reportsLong reports whether all processes of a group report, and have run for coordinatorLimit.
func reportsLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return len(reportingOf(s, g)) >= serversOf(s, g) && s.Now.Sub(lastAlive(s.Pod(g))) >= coordinatorLimit
}

// justMade returns why the process of a group may not report yet: its pod terminates, or was
// created less than coordinatorLimit ago; empty otherwise.
func justMade(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod := s.Pod(g)
	lost, noted := g.Condition(v1beta2.ConditionMissingPod)
	switch {
	case pod == nil && !noted:
		return fmt.Sprintf("%s has just lost its pod, which is recreated", g.ProcessGroupID)
	case pod == nil:
		return within(s.Now.Sub(lost), "%s lost its pod %s ago, and it is recreated", g.ProcessGroupID)
	case pod.DeletionTimestamp != nil:
		return within(s.Now.Sub(pod.DeletionTimestamp.Time), "the pod of %s was due to terminate %s ago, and is recreated", g.ProcessGroupID)
	default:
		return within(s.Now.Sub(pod.CreationTimestamp.Time), "the pod of %s was created %s ago", g.ProcessGroupID)
	}
}

func within(d time.Duration, format string, id v1beta2.ProcessGroupID) string {
	if d >= coordinatorLimit {
		return ""
	}
	return fmt.Sprintf(format, id, d.Round(time.Second))
}

// groupAt is the process group of this cluster that has, or had, a coordinator's address or
// name; nil when there is none, or when another group has it now.
func groupAt(s plan.Snapshot, address fdb.Address) *v1beta2.ProcessGroupStatus {
	groups := s.Groups()
	i := slices.IndexFunc(groups, func(g *v1beta2.ProcessGroupStatus) bool {
		has := slices.Contains(g.Addresses, address.Host) || slices.Contains(presentIPs(s, g), address.Host)
		return address.Host == g.DNSName(s.Cluster) || (has && !isOthers(s.Database.Status, g, address.Host))
	})
	if i < 0 {
		return nil
	}
	return groups[i]
}

// hasOtherAddress reports whether the pod of a group has an address, and not the
// coordinator's: the coordinator cannot come back at the old one.
func hasOtherAddress(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, address fdb.Address) bool {
	ips := presentIPs(s, g)
	return len(ips) > 0 && address.IsIP() && !namedByDNS(s, address) && !slices.Contains(ips, address.Host)
}

// presentIPs are the addresses of a group's pod; none where they are unknown, or where the
// pod terminates.
func presentIPs(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []string {
	pod := s.Pod(g)
	if pod == nil || pod.DeletionTimestamp != nil {
		return nil
	}
	ips, err := objects.PublicIPs(pod)
	if err != nil {
		return nil
	}
	return ips
}

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
