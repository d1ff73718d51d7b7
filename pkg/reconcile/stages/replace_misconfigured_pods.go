package stages

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// replaceMisconfiguredPods marks process groups that cannot become what the spec asks
// for by a change of their objects: their ID, their volume, or the way their pod was
// made differs. Other stages then make a new group beside each and drain it. It comes
// after the record and the ConfigMap, which say what pods should be made from, and
// before replacements of failed groups, whose budget counts these.
func replaceMisconfiguredPods(o Options) plan.Stage {
	return plan.Stage{
		Name:  plan.StageReplaceMisconfiguredPods,
		Reads: plan.Record | plan.Pods | plan.Volumes,
		Decide: func(s plan.Snapshot) plan.Decision {
			switch {
			case incompatibleUpgrade(s.Cluster):
				return plan.WaitBehind(podDelay, plan.HoldUpgradeActive, fmt.Sprintf("no pod is replaced for its spec while the database goes from version %s to %s", s.Cluster.RunningVersion(), s.Cluster.Spec.Version))
			case tlsConversion(s.Cluster):
				return plan.WaitBehind(podDelay, plan.HoldTLSConversionActive, "no pod is replaced for its spec while the cluster is on its way to TLS or back")
			}
			return misconfiguredIn(s, o).decision(s)
		},
	}
}

// misconfigured is what is wrong with the process groups of a cluster.
type misconfigured struct {
	// groups are those to replace, in the order of the record.
	groups []v1beta2.ProcessGroupID
	// reasons are why, by group.
	reasons map[v1beta2.ProcessGroupID]string
	// unclear are groups about which nobody can tell, and why, in words.
	unclear []string
}

func misconfiguredIn(s plan.Snapshot, o Options) misconfigured {
	m := misconfigured{reasons: map[v1beta2.ProcessGroupID]string{}}
	inspect := newInspection(s, o)
	for _, g := range s.Staying() {
		reason, err := inspect.group(g)
		switch {
		case err != nil:
			m.unclear = append(m.unclear, fmt.Sprintf("%s: %v", g.ProcessGroupID, err))
		case reason != "":
			m.groups = append(m.groups, g.ProcessGroupID)
			m.reasons[g.ProcessGroupID] = reason
		}
	}
	return m
}

// decision marks as many groups as may be in replacement at once, the first first.
func (m misconfigured) decision(s plan.Snapshot) plan.Decision {
	free := s.Cluster.MaxConcurrentMisconfigurationReplacements() - beingReplaced(s)
	now := m.groups[:min(max(free, 0), len(m.groups))]
	d := plan.Decision{Hold: m.hold(s.Cluster, len(m.groups)-len(now))}
	if len(now) > 0 {
		d.Why = m.why(now)
		d.Actions = []plan.Action{plan.MarkForRemoval{Groups: now, At: s.Now}}
	}
	return d
}

// beingReplaced counts the groups that are on their way out and not drained yet,
// whoever asked for that.
func beingReplaced(s plan.Snapshot) (n int) {
	for _, g := range s.Groups() {
		if g.IsMarkedForRemoval() && !g.IsExcluded() {
			n++
		}
	}
	return n
}

// hold says why more is wrong than is being done about. What nobody can tell is for a
// person to settle: a group is never marked on a guess.
func (m misconfigured) hold(c *v1beta2.FoundationDBCluster, waiting int) *plan.Hold {
	var reasons []string
	most := c.MaxConcurrentMisconfigurationReplacements()
	if waiting > 0 {
		later := m.groups[len(m.groups)-waiting:]
		reasons = append(reasons, fmt.Sprintf("%s that %s not match the spec %s to be replaced (%s): automationOptions.maxConcurrentReplacements is %d", phrase.Count(waiting, "process group"), phrase.Either(waiting, "does", "do"), phrase.Either(waiting, "waits", "wait"), someOf(later), most))
	}
	if len(m.unclear) > 0 {
		reasons = append(reasons, "nobody can tell whether these have to be replaced: "+someOf(m.unclear))
	}
	if len(reasons) == 0 {
		return nil
	}
	return &plan.Hold{
		Code:       plan.HoldReplacementBudget,
		Reason:     strings.Join(reasons, "; "),
		RetryAfter: podDelay,
		Human:      len(m.unclear) > 0 || (waiting > 0 && most == 0),
		Follows:    len(m.unclear) == 0 && most > 0, // for those on their way out
	}
}

// why tells which groups are replaced for which reason.
func (m misconfigured) why(groups []v1beta2.ProcessGroupID) string {
	byReason := map[string][]string{}
	for _, id := range groups {
		byReason[m.reasons[id]] = append(byReason[m.reasons[id]], string(id))
	}
	var words []string
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		words = append(words, fmt.Sprintf("%s (%s)", reason, strings.Join(byReason[reason], ", ")))
	}
	return strings.Join(words, "; ")
}
