package replacements

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ReplaceMisconfiguredPods marks process groups for removal that a change of their objects
// cannot reconcile: their ID, their volume, or the way their pod was created differs. Other
// stages then add a new group for each and drain it. It runs after the stages of the status and
// the ConfigMap, which define what pods are created from, and before replacements of failed
// groups, whose budget counts these.
func ReplaceMisconfiguredPods(o plan.Options) plan.Stage {
	return WithSuccessors(plan.Stage{
		Name:  plan.StageReplaceMisconfiguredPods,
		Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
		Decide: func(s plan.Snapshot) plan.Decision {
			switch {
			case readings.IncompatibleUpgrade(s.Cluster):
				return plan.WaitBehind(plan.PodDelay, plan.HoldUpgradeActive, fmt.Sprintf("no pod is replaced for its spec during the upgrade from version %s to %s", s.Cluster.RunningVersion(), s.Cluster.Spec.Version))
			case readings.TLSConversion(s.Cluster):
				return plan.WaitBehind(plan.PodDelay, plan.HoldTLSConversionActive, "no pod is replaced for its spec during the conversion to or from TLS")
			}
			return misconfiguredIn(s, o).decision(s)
		},
	})
}

// misconfigured lists the process groups that do not match the spec.
type misconfigured struct {
	// groups are those to replace, in the order of the status.
	groups []v1beta2.ProcessGroupID
	// reasons are why, by group.
	reasons map[v1beta2.ProcessGroupID]string
	// kept are those that the spec keeps, although they do not match it.
	kept []v1beta2.ProcessGroupID
	// unclear describes groups that cannot be compared with the spec, and why.
	unclear []string
	// moves is what a changed distribution replaces, in all.
	moves readings.DistributionMoves
}

func misconfiguredIn(s plan.Snapshot, o plan.Options) misconfigured {
	m := misconfigured{reasons: map[v1beta2.ProcessGroupID]string{}}
	inspect := readings.NewInspection(s, o)
	for _, g := range s.Remaining() {
		reason, err := inspect.Group(g)
		kept := s.Cluster.KeepsFromReplacement(g.ProcessGroupID)
		switch {
		case reason != "" && kept:
			m.kept = append(m.kept, g.ProcessGroupID)
			m.reasons[g.ProcessGroupID] = reason
		case kept: // it is not replaced, whatever differs
		case err != nil:
			m.unclear = append(m.unclear, fmt.Sprintf("%s: %v", g.ProcessGroupID, err))
		case reason != "":
			m.groups = append(m.groups, g.ProcessGroupID)
			m.reasons[g.ProcessGroupID] = reason
		}
	}
	m.moves = inspect.DistributionMoves()
	return m
}

// decision marks as many groups as may be replaced at once, in order.
func (m misconfigured) decision(s plan.Snapshot) plan.Decision {
	now := m.groups[:min(max(freeReplacements(s), 0), len(m.groups))]
	d := plan.Decision{Hold: m.Hold(s.Cluster, len(m.groups)-len(now))}
	if len(now) > 0 {
		d.Why = m.why(now)
		if moves := m.moves.Text(s.Cluster); moves != "" {
			d.Why += "; " + moves
		}
		d.Actions = []plan.Action{plan.MarkForRemoval{Groups: now, At: s.Now}}
	}
	return d
}

// freeReplacements returns how many more groups may be marked now. Without a monitor configuration
// no process runs that could take over, nor one that could be drained.
func freeReplacements(s plan.Snapshot) int {
	if s.Cluster.Spec.Buggify.EmptyMonitorConf {
		return 0
	}
	return s.Cluster.MaxConcurrentMisconfigurationReplacements() - beingReplaced(s)
}

// beingReplaced counts the groups that are marked for removal and not drained yet, whatever the
// reason.
func beingReplaced(s plan.Snapshot) (n int) {
	for _, g := range s.Groups() {
		if g.IsMarkedForRemoval() && !g.IsExcluded() {
			n++
		}
	}
	return n
}

// Hold describes the differences that are not acted on. Unknown ones need a user: a group is
// never marked on a guess.
func (m misconfigured) Hold(c *v1beta2.FoundationDBCluster, waiting int) *plan.Hold {
	var reasons []string
	most := c.MaxConcurrentMisconfigurationReplacements()
	limited := fmt.Sprintf("spec.automationOptions.maxConcurrentReplacements is %d", most)
	if c.Spec.Buggify.EmptyMonitorConf {
		most, limited = 0, "spec.buggify.emptyMonitorConf is set"
	}
	if waiting > 0 {
		later := m.groups[len(m.groups)-waiting:]
		reasons = append(reasons, fmt.Sprintf("%s that %s not match the spec %s to be replaced (%s): %s", phrase.Count(waiting, "process group"), phrase.Either(waiting, "does", "do"), phrase.Either(waiting, "waits", "wait"), readings.SomeOf(later), limited))
	}
	if len(m.unclear) > 0 {
		reasons = append(reasons, "cannot determine whether to replace: "+readings.SomeOf(m.unclear))
	}
	if len(m.kept) > 0 {
		reasons = append(reasons, fmt.Sprintf("%s %s from the spec, and %s %s: %s", phrase.Count(len(m.kept), "process group"), phrase.Either(len(m.kept), "differs", "differ"), readings.KeepField, phrase.Either(len(m.kept), "keeps it", "keeps them"), m.why(m.kept)))
	}
	if len(reasons) == 0 {
		return nil
	}
	h := &plan.Hold{
		Code:       plan.HoldReplacementBudget,
		Reason:     strings.Join(reasons, "; "),
		RetryAfter: plan.PodDelay,
		Manual:     len(m.unclear) > 0 || len(m.kept) > 0 || (waiting > 0 && most == 0),
		Follows:    len(m.unclear) == 0 && len(m.kept) == 0 && most > 0, // for those that are draining
	}
	if len(m.kept) > 0 {
		h.Code, h.Subjects = plan.HoldKeptDiffer, phrase.Strings(m.kept)
	}
	return h
}

// why lists which groups are replaced for which reason.
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

// WithSuccessors returns a stage that marks only those of its process groups for removal whose successors the API
// server accepts: a dry run of pod and PVC comes before the first mark of a pass. Data of a group whose successor
// cannot be created would be drained to fewer processes, or wait for it without end.
func WithSuccessors(of plan.Stage) plan.Stage {
	decide := of.Decide
	of.More |= plan.Successors
	of.Matters = func(s plan.Snapshot) bool { return readings.Has[plan.MarkForRemoval](decide(s)) }
	of.Decide = func(s plan.Snapshot) plan.Decision { return withoutRefused(s, decide(s)) }
	return of
}

// withoutRefused returns the decision without the marks of groups whose successors are not accepted.
func withoutRefused(s plan.Snapshot, d plan.Decision) plan.Decision {
	if !readings.Has[plan.MarkForRemoval](d) {
		return d
	}
	refused := refusedClasses(s, &d)
	var held []v1beta2.ProcessGroupID
	d = readings.Narrowed(d, func(mark plan.MarkForRemoval) (plan.MarkForRemoval, bool) {
		mark.Groups = slices.DeleteFunc(slices.Clone(mark.Groups), func(id v1beta2.ProcessGroupID) bool {
			holds := slices.Contains(refused, s.Cluster.ProcessGroup(id).ProcessClass)
			if holds {
				held = append(held, id)
			}
			return holds
		})
		return mark, len(mark.Groups) > 0
	})
	if len(held) > 0 {
		d.Hold = successorHold(s, d, held, refused[0])
	}
	return d
}

// refusedClasses adds the checks of the classes that are about to be marked, and returns those that do not pass.
func refusedClasses(s plan.Snapshot, d *plan.Decision) (refused []v1beta2.ProcessClass) {
	var asked []v1beta2.ProcessClass
	for _, a := range d.Actions {
		mark, is := a.(plan.MarkForRemoval)
		if !is {
			continue
		}
		for _, id := range mark.Groups {
			class := s.Cluster.ProcessGroup(id).ProcessClass
			if slices.Contains(asked, class) {
				continue
			}
			asked = append(asked, class)
			check := safety.SuccessorAccepted(s, class)
			d.Checks = append(d.Checks, check)
			if !check.OK {
				refused = append(refused, class)
			}
		}
	}
	return refused
}

func successorHold(s plan.Snapshot, d plan.Decision, held []v1beta2.ProcessGroupID, class v1beta2.ProcessClass) *plan.Hold {
	h := &plan.Hold{
		Code: plan.HoldCheckRefused, Subjects: phrase.Strings(held), RetryAfter: plan.PodDelay, Detail: safety.SuccessorAccepted(s, class).Evidence,
		Reason: fmt.Sprintf("%s %s not replaced: the API server would not accept the successor", readings.SomeOf(held), phrase.Is(len(held))),
	}
	if r, is := s.Successors.Refused[class]; is {
		h.Manual = !r.Waits()
	} else {
		h.Reason = fmt.Sprintf("%s %s not replaced: cannot determine whether the API server accepts the successor", readings.SomeOf(held), phrase.Is(len(held)))
	}
	if d.Hold != nil {
		h.Reason, h.Manual = d.Hold.Text()+"; "+h.Reason, h.Manual || d.Hold.Manual
		h.Subjects = append(h.Subjects, d.Hold.Subjects...)
	}
	return h
}
