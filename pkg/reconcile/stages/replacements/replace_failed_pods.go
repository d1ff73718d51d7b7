package replacements

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// ReplaceFailedPods marks process groups that have failed for too long for removal, a few at a
// time so that a short outage cannot replace the whole cluster.
//
// The operator honors only one container's list of groups that crash on purpose; here the lists
// of all containers count. It also continues while the database is upgraded to a version of
// another protocol: processes that start then use that version, and join once all others
// restart in it. A replacement could not join sooner than what it replaces, and would soon
// count as failed itself, continuously.
//
// Nor does the operator ask whether a replacement would start: with an image that cannot be pulled it replaces one
// group after another, without end.
var ReplaceFailedPods = WithSuccessors(plan.Stage{
	Name:  plan.StageReplaceFailedPods,
	Reads: plan.ClusterResource | plan.Database | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		c := s.Cluster
		if !replacesFailed(c) {
			return plan.Decision{}
		}
		taints := taintsSpread(s)
		failed := failedTooLong(s, taints)
		if len(failed) == 0 {
			return taints.decision()
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{
				Code:   plan.HoldDatabaseUnavailable,
				Reason: fmt.Sprintf("%s %s failed for too long; none is replaced while the database is unavailable", phrase.Count(len(failed), "process group"), phrase.Has(len(failed))), RetryAfter: plan.PodDelay,
			}}
		}
		if readings.IncompatibleUpgrade(c) {
			d := taints.decision()
			d.Hold = &plan.Hold{Code: plan.HoldUpgradeActive, RetryAfter: plan.PodDelay, Reason: fmt.Sprintf(
				"%s failed for too long; none is replaced during the upgrade from version %s to %s, since replacements join only when all processes restart; "+
					"if one of them blocks the upgrade, replace it manually or revert spec.version", readings.SomeOf(readings.IDsOf(failed)), c.RunningVersion(), c.Spec.Version)}
			return d
		}
		failed, hopeless := splitHopeless(s, failed)
		now, later := withinReplacementBudget(s, failed)
		d := taints.decision()
		if len(hopeless) > 0 {
			d.Hold = replacementsFail(s, hopeless)
		}
		if len(now) > 0 {
			d.Why = whyFailed(c, taints)
			d.Actions = []plan.Action{plan.MarkForRemoval{Groups: now, At: s.Now}}
		}
		if len(later) > 0 {
			d.Hold = &plan.Hold{
				Code:     plan.HoldReplacementBudget,
				Subjects: phrase.Strings(later), Reason: fmt.Sprintf("replacement of %s waits for others: spec.automationOptions.replacements.maxConcurrentReplacements is %d", readings.SomeOf(later), c.MaxConcurrentAutomaticReplacements()),
				RetryAfter: replacementRetry, Follows: c.MaxConcurrentAutomaticReplacements() > 0,
			}
		}
		return d
	},
})

// splitHopeless splits off the groups whose pods do not start for a reason that their replacements would share.
func splitHopeless(s plan.Snapshot, failed []*v1beta2.ProcessGroupStatus) (rest, hopeless []*v1beta2.ProcessGroupStatus) {
	for _, g := range failed {
		if pod := s.Pod(g); pod != nil && readings.FailsAnywhere(s, pod) != "" {
			hopeless = append(hopeless, g)
			continue
		}
		rest = append(rest, g)
	}
	return rest, hopeless
}

// replacementsFail is the wait for a correction of the spec.
func replacementsFail(s plan.Snapshot, hopeless []*v1beta2.ProcessGroupStatus) *plan.Hold {
	ids := readings.IDsOf(hopeless)
	return &plan.Hold{
		Code: plan.HoldNotReporting, Manual: true, Subjects: phrase.Strings(ids), Detail: readings.FailsAnywhere(s, s.Pod(hopeless[0])),
		Reason: fmt.Sprintf("%s failed for too long and %s not replaced: a replacement would not start either; correct the spec", readings.SomeOf(ids), phrase.Is(len(ids))),
	}
}

// replacesFailed reports whether failed groups are replaced at all.
func replacesFailed(c *v1beta2.FoundationDBCluster) bool {
	return c.ReplacementsEnabled() && c.MaxConcurrentAutomaticReplacements() > 0 && !c.Spec.Buggify.EmptyMonitorConf && c.Status.Configured && !readings.AllCrashOnPurpose(c)
}

// replacementRetry is when the budget of replacements is checked again.
const replacementRetry = 5 * time.Minute

// failedTooLong returns the groups that are due, in the order of the status. Those that the spec
// keeps never are.
func failedTooLong(s plan.Snapshot, taints taintSpread) []*v1beta2.ProcessGroupStatus {
	return slices.DeleteFunc(replaceable(s), func(g *v1beta2.ProcessGroupStatus) bool {
		return s.Cluster.KeepsFromReplacement(g.ProcessGroupID) || whyDue(s, g, taints) == ""
	})
}

// whyDue returns which timer of a group ran out; empty for none.
func whyDue(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, taints taintSpread) string {
	switch {
	case failedSince(g, isFailure, s.Now.Add(-s.Cluster.FailureDetectionTime())):
		return fmt.Sprintf("it failed for more than %s", s.Cluster.FailureDetectionTime())
	case taints.few() && onTaintedNodeTooLong(s, g):
		return fmt.Sprintf("its node has been tainted for more than %s", s.Cluster.TaintReplacementTime())
	}
	return ""
}

// failedAndKept returns which timers ran out of the groups that the spec keeps.
func failedAndKept(s plan.Snapshot) map[v1beta2.ProcessGroupID]string {
	due := map[v1beta2.ProcessGroupID]string{}
	if !replacesFailed(s.Cluster) {
		return due
	}
	taints := taintsSpread(s)
	for _, g := range replaceable(s) {
		if why := whyDue(s, g, taints); why != "" && s.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
			due[g.ProcessGroupID] = why
		}
	}
	return due
}

// replaceable returns the groups whose failures count.
func replaceable(s plan.Snapshot) []*v1beta2.ProcessGroupStatus {
	var groups []*v1beta2.ProcessGroupStatus
	for _, g := range s.Remaining() {
		f := status.GroupFacts{S: s, Group: g}
		if !readings.CrashesOnPurpose(s.Cluster, g) && !f.UnderMaintenance() && !WithoutTrace(s, g) {
			groups = append(groups, g)
		}
	}
	return groups
}

// isFailure reports whether the longer of the two timers applies to a condition.
func isFailure(t v1beta2.ProcessGroupConditionType) bool {
	return t != v1beta2.ConditionNodeTaintReplacing && slices.Contains(v1beta2.ReplacementConditions(), t)
}

// failedSince reports whether one of the conditions has been true since before then.
func failedSince(g *v1beta2.ProcessGroupStatus, counts func(v1beta2.ProcessGroupConditionType) bool, then time.Time) bool {
	return slices.ContainsFunc(g.ProcessGroupConditions, func(c *v1beta2.ProcessGroupCondition) bool {
		return counts(c.Type) && c.Timestamp < then.Unix()
	})
}

// WithoutTrace reports whether a group cannot be excluded: it never had an address, and this
// cluster excludes by address. Without full fault tolerance it is not proven that nothing
// depends on it.
func WithoutTrace(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return len(g.Addresses) == 0 && !safety.ByLocality(s.Cluster) && !safety.FullFaultTolerance(s).OK
}

// withinReplacementBudget splits the groups that are due into those that may be marked now and
// those that wait for others. Every group that is marked for removal and not drained yet
// counts, whatever the reason.
func withinReplacementBudget(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) (now, later []v1beta2.ProcessGroupID) {
	return Budget{Max: s.Cluster.MaxConcurrentAutomaticReplacements(), ByZone: s.Cluster.FaultDomainBasedReplacements()}.Split(s, due)
}

// Budget limits how many process groups drain at a time.
type Budget struct {
	// Max is the maximum number of draining groups.
	Max int
	// ByZone is true if Max is the maximum number of fault domains with such groups.
	ByZone bool
}

// Split splits the groups that are due into those that may be marked now and the others.
func (b Budget) Split(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) (now, later []v1beta2.ProcessGroupID) {
	inFlight, domains := 0, map[v1beta2.FaultDomain]bool{}
	for _, g := range s.Groups() {
		if g.IsMarkedForRemoval() && !g.IsExcluded() {
			inFlight++
			domains[g.FaultDomain] = true
		}
	}
	for _, g := range due {
		free := inFlight < b.Max
		if b.ByZone {
			free = len(domains) < b.Max || (len(domains) == b.Max && domains[g.FaultDomain])
		}
		if !free {
			later = append(later, g.ProcessGroupID)
			continue
		}
		inFlight++
		domains[g.FaultDomain] = true
		now = append(now, g.ProcessGroupID)
	}
	return now, later
}

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
