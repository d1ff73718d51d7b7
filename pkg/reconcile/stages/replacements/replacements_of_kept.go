package replacements

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// markOthers returns the groups of a class to mark for removal instead of those that the spec keeps, at most
// as many as the surplus: the replacements of the kept ones. Those that never reported come first, then the
// youngest; among groups of the same age those stay that are spread best.
func markOthers(s plan.Snapshot, class v1beta2.ProcessClass, surplus int) []v1beta2.ProcessGroupID {
	b := removalChoice{s: s, used: map[string]map[string]int{}}
	var others []*v1beta2.ProcessGroupStatus
	for _, g := range s.Remaining() {
		switch {
		case g.ProcessClass != class:
		case s.Cluster.KeepsFromReplacement(g.ProcessGroupID):
			b.stay(g)
		default:
			others = append(others, g)
		}
	}
	slices.SortStableFunc(others, b.leavesFirst)
	var marked []v1beta2.ProcessGroupID
	for surplus > 0 && len(others) > 0 {
		alike := 1
		for alike < len(others) && b.leavesFirst(others[0], others[alike]) == 0 {
			alike++
		}
		if alike > surplus {
			for _, g := range others[alike:] {
				b.stay(g)
			}
			return append(marked, b.worstSpread(others[:alike], surplus)...)
		}
		marked = append(marked, readings.IDsOf(others[:alike])...)
		others, surplus = others[alike:], surplus-alike
	}
	return marked
}

// removalChoice chooses the groups to remove, by how well those that stay are spread.
type removalChoice struct {
	s plan.Snapshot
	// used counts those that stay by locality and its value.
	used map[string]map[string]int
}

// distributionKey stands for the localities that pods are packed into; it is empty for all of a class
// that is not packed.
const distributionKey = v1beta2.LabelDistributionKey

// spreadFields are what groups are spread over, the most important first.
var spreadFields = []string{distributionKey, fdb.LocalityZoneID, fdb.LocalityDCID, fdb.LocalityDataHall}

func (b removalChoice) stay(g *v1beta2.ProcessGroupStatus) {
	for _, field := range spreadFields {
		if b.used[field] == nil {
			b.used[field] = map[string]int{}
		}
		b.used[field][b.locality(g, field)]++
	}
}

// locality returns a locality of a group; the recorded zone of one that does not report.
func (b removalChoice) locality(g *v1beta2.ProcessGroupStatus, field string) string {
	if field == distributionKey {
		key, _ := distribution.Of(b.s.Cluster).KeyOf(g)
		return key
	}
	if processes := b.s.Database.Status.ProcessesOf(string(g.ProcessGroupID)); len(processes) > 0 {
		return processes[0].Locality[field]
	}
	if field == fdb.LocalityZoneID {
		return string(g.FaultDomain)
	}
	return ""
}

// leavesFirst sorts groups by which of them leaves first; 0 for those of the same kind and age.
func (b removalChoice) leavesFirst(x, y *v1beta2.ProcessGroupStatus) int {
	if c := cmp.Compare(rank(b.everReported(x)), rank(b.everReported(y))); c != 0 {
		return c
	}
	return b.created(y).Compare(b.created(x))
}

func rank(later bool) int {
	if later {
		return 1
	}
	return 0
}

// everReported reports whether a process of a group has ever reported: its fault domain is
// recorded with the first one that does.
func (b removalChoice) everReported(g *v1beta2.ProcessGroupStatus) bool {
	return g.FaultDomain != "" || len(b.s.Database.Status.ProcessesOf(string(g.ProcessGroupID))) > 0
}

// created returns when the oldest object of a group was created: its PVC, or else its pod. A group
// without objects was created last.
func (b removalChoice) created(g *v1beta2.ProcessGroupStatus) time.Time {
	if claim := b.s.Volumes[g.PVCName(b.s.Cluster)]; claim != nil {
		return claim.CreationTimestamp.Time
	}
	if pod := b.s.Pod(g); pod != nil {
		return pod.CreationTimestamp.Time
	}
	return b.s.Now
}

// worstSpread returns the given number of groups of the same age whose removal leaves the others spread
// best. One that does not report now leaves before one that does.
func (b removalChoice) worstSpread(alike []*v1beta2.ProcessGroupStatus, leave int) []v1beta2.ProcessGroupID {
	left := slices.Clone(alike)
	for range len(alike) - leave {
		best := slices.MinFunc(left, func(x, y *v1beta2.ProcessGroupStatus) int {
			if c := cmp.Compare(rank(!b.reports(x)), rank(!b.reports(y))); c != 0 {
				return c
			}
			for _, field := range spreadFields {
				if c := cmp.Compare(b.used[field][b.locality(x, field)], b.used[field][b.locality(y, field)]); c != 0 {
					return c
				}
			}
			return cmp.Compare(x.ProcessGroupID, y.ProcessGroupID)
		})
		b.stay(best)
		left = slices.DeleteFunc(left, func(g *v1beta2.ProcessGroupStatus) bool { return g == best })
	}
	return readings.IDsOf(left)
}

func (b removalChoice) reports(g *v1beta2.ProcessGroupStatus) bool {
	return len(b.s.Database.Status.ProcessesOf(string(g.ProcessGroupID))) > 0
}
