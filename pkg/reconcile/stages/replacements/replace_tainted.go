package replacements

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// onTaintedNodeTooLong reports whether a group has stayed too long on a node whose taint has
// outlasted its rule.
func onTaintedNodeTooLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return failedSince(g, isTaint, s.Now.Add(-s.Cluster.TaintReplacementTime()))
}

func isTaint(t v1beta2.ProcessGroupConditionType) bool {
	return t == v1beta2.ConditionNodeTaintReplacing
}

// taintSpread is how many fault domains of the cluster have taints.
type taintSpread struct {
	// tainted of all fault domains have a group on a node whose taint has outlasted its rule;
	// most may be tainted for any of them to be replaced.
	tainted, all, max int
	// due is how many groups have to be replaced because of that.
	due int
	// err is why the maximum is unknown.
	err error
}

// taintsSpread counts fault domains. Groups marked for removal count as well: until they are
// removed their data is moving.
func taintsSpread(s plan.Snapshot) taintSpread {
	domains, tainted := map[v1beta2.FaultDomain]bool{}, map[v1beta2.FaultDomain]bool{}
	for _, g := range s.Groups() {
		if g.FaultDomain == "" {
			continue
		}
		domains[g.FaultDomain] = true
		if g.HasCondition(v1beta2.ConditionNodeTaintReplacing) {
			tainted[g.FaultDomain] = true
		}
	}
	most, err := s.Cluster.MaxFaultDomainsWithTaintedProcessGroups(len(domains))
	t := taintSpread{tainted: len(tainted), all: len(domains), max: most, err: err}
	for _, g := range replaceable(s) {
		if onTaintedNodeTooLong(s, g) {
			t.due++
		}
	}
	return t
}

// few reports whether so few fault domains are tainted that their groups may be replaced. With
// too many none is: that would move everything at once.
func (t taintSpread) few() bool { return t.err == nil && t.tainted <= t.max }

// decision describes why groups that are due stay. Time alone does not clear that, but the
// taints may be removed again.
func (t taintSpread) decision() plan.Decision {
	if t.due == 0 {
		return plan.Decision{}
	}
	d := plan.Decision{Checks: []plan.Check{{ID: plan.CheckFewTaintedNodes, Question: "are few enough fault domains tainted?", OK: t.few(), Evidence: t.evidence()}}}
	if !t.few() {
		d.Hold = &plan.Hold{
			Code:       plan.HoldCheckRefused,
			Reason:     fmt.Sprintf("%s %s on tainted nodes: %s", phrase.Count(t.due, "process group"), phrase.Either(t.due, "stays", "stay"), t.evidence()),
			RetryAfter: replacementRetry,
		}
	}
	return d
}

func (t taintSpread) evidence() string {
	if t.err != nil {
		return t.err.Error()
	}
	return fmt.Sprintf("%s %s tainted, at most %d allowed (spec.automationOptions.replacements.maxFaultDomainsWithTaintedProcessGroups)", phrase.CountOf(t.tainted, t.all, "fault domain"), phrase.EitherOf(t.tainted, t.all, "is", "are"), t.max)
}

// whyFailed describes the timers that may have expired, and where nothing in the spec enables
// replacements, that they are the default.
func whyFailed(c *v1beta2.FoundationDBCluster, taints taintSpread) string {
	why := fmt.Sprintf("failed for longer than %s", c.FailureDetectionTime())
	if taints.due > 0 && taints.few() {
		why += fmt.Sprintf(", or on a tainted node for longer than %s", c.TaintReplacementTime())
	}
	if c.Spec.AutomationOptions.Replacements.Enabled == nil {
		why += "; automatic replacement is on by default (spec.automationOptions.replacements.enabled)"
	}
	return why
}
