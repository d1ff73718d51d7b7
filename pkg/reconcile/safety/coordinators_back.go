package safety

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// coordinatorPatience is for how long a coordinator that does not report may be restarting.
// Default 2 min, as for recoveries: the death of a storage process causes none, so the age
// of the last one says nothing about how long such a coordinator has been away.
const coordinatorPatience = 2 * time.Minute

// StaysAway asks whether one of the coordinators that do not report is lost, as far as
// anybody can tell: away for a while, or at an address that nobody has any more. Where one
// more loss would take the quorum, one whose pod was not just made is lost at once.
//
// Coordinators of other instances are no matter of this record, and count as lost: a pass
// that takes one down keeps the lock meanwhile.
func StaysAway(s plan.Snapshot, silent []fdb.Address) plan.Check {
	c := plan.Check{ID: plan.CheckCoordinatorAway, Question: "does a coordinator that does not report stay away?", Gate: plan.GateCoord, Need: fmt.Sprintf("away for %s", coordinatorPatience)}
	atRisk := quorumAtRisk(s.Database.Status)
	var back []string
	for _, address := range silent {
		why := mayComeBack(s, address, atRisk)
		if why == "" {
			c.OK, c.Evidence = true, fmt.Sprintf("%s is not waited for", address)
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

// mayComeBack says why a coordinator that does not report may be back soon; empty when
// nobody can expect that.
func mayComeBack(s plan.Snapshot, address fdb.Address, atRisk bool) string {
	g := groupAt(s, address)
	if g == nil || g.IsGone() || hasOtherAddress(s, g, address) {
		return ""
	}
	if why := justMade(s, g); why != "" || atRisk {
		return why
	}
	since, missing := missingSince(g)
	if !missing && reportsLong(s, g) {
		return "" // it is back, and not as this coordinator
	}
	if !missing {
		return fmt.Sprintf("since when %s is missing no pass has seen yet", g.ProcessGroupID)
	}
	if away := s.Now.Sub(since); away < coordinatorPatience {
		return fmt.Sprintf("%s has been missing for %s only", g.ProcessGroupID, away.Round(time.Second))
	}
	return ""
}

// reportsLong reports whether all servers of a group report, and have run for a while.
func reportsLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return len(reportingOf(s, g)) >= serversOf(s, g) && s.Now.Sub(lastAlive(s.Pod(g))) >= coordinatorPatience
}

// justMade says that the pod of a group is on its way down, or was made anew, too short a
// time ago for its server to report; empty otherwise.
func justMade(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod := s.Pod(g)
	lost, noted := g.Condition(v1beta2.ConditionMissingPod)
	switch {
	case pod == nil && !noted:
		return fmt.Sprintf("%s has lost its pod a moment ago, which is made anew", g.ProcessGroupID)
	case pod == nil:
		return within(s.Now.Sub(lost), "%s lost its pod %s ago, which is made anew", g.ProcessGroupID)
	case pod.DeletionTimestamp != nil:
		return within(s.Now.Sub(pod.DeletionTimestamp.Time), "the pod of %s was to be gone %s ago, and is made anew", g.ProcessGroupID)
	default:
		return within(s.Now.Sub(pod.CreationTimestamp.Time), "the pod of %s was made %s ago", g.ProcessGroupID)
	}
}

func within(d time.Duration, format string, id v1beta2.ProcessGroupID) string {
	if d >= coordinatorPatience {
		return ""
	}
	return fmt.Sprintf(format, id, d.Round(time.Second))
}

// groupAt is the process group of this record that a coordinator's address or name is, or
// was; nil when it is none's, or another's by now.
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

// hasOtherAddress reports whether the pod of a group has its address, and not the
// coordinator's: nobody comes back where it was.
func hasOtherAddress(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, address fdb.Address) bool {
	ips := presentIPs(s, g)
	return len(ips) > 0 && address.IsIP() && !namedByDNS(s, address) && !slices.Contains(ips, address.Host)
}

// presentIPs are the addresses of a group's pod; none where nobody can tell, or that it
// will not keep.
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
