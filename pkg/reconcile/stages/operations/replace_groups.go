package operations

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
)

// Replacement is what a user requests to replace, and how fast.
type Replacement struct {
	Groups []v1beta2.ProcessGroupID
	// Max is how many process groups may be draining at once, whatever the reason. At least 1.
	Max int
	// ByZone counts fault domains instead.
	ByZone bool
}

// ReplaceGroups returns a stage that marks requested process groups for removal, a few at a
// time. The stages of a pass do the rest; they add a new group for each marked one.
func ReplaceGroups(r Replacement) plan.Stage {
	return replacements.WithSuccessors(r.stage())
}

// stage marks groups whatever becomes of their successors.
func (r Replacement) stage() plan.Stage {
	return plan.Stage{
		Name:  plan.StageReplaceGroups,
		Reads: plan.ClusterResource | plan.Database,
		Decide: unlessKept(r.Groups, func(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.Decision {
			due := notMarked(s, groups)
			if len(due) == 0 {
				return plan.Decision{}
			}
			d := plan.Decision{Checks: []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database)}}
			if refused, ok := d.Refused(); ok {
				d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s cannot be marked for removal now", phrase.Count(len(due), "process group")), Detail: refused.Evidence, RetryAfter: plan.PodDelay}
				return d
			}
			return r.mark(s, d, due)
		}),
	}
}

// Replaceable checks whether replace marks a process group for removal: by its own decision, without what
// ends by itself.
func Replaceable(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{
		ID: plan.CheckReplaceable, Subject: string(g.ProcessGroupID), OK: true, Evidence: "nothing keeps it",
		Question: "does replace mark the process group for removal?",
	}
	if h := (Replacement{Groups: []v1beta2.ProcessGroupID{g.ProcessGroupID}}).stage().Decide(s).Hold; h != nil && h.Manual {
		c.OK, c.Evidence = false, h.Reason
	}
	return c
}

// notMarked returns the groups that are not marked yet, in the order they were named.
func notMarked(s plan.Snapshot, groups []v1beta2.ProcessGroupID) []*v1beta2.ProcessGroupStatus {
	var due []*v1beta2.ProcessGroupStatus
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !g.IsMarkedForRemoval() {
			due = append(due, g)
		}
	}
	return due
}

func (r Replacement) mark(s plan.Snapshot, d plan.Decision, due []*v1beta2.ProcessGroupStatus) plan.Decision {
	due, nameless := splitByTrace(s, due)
	now, later := replacements.Budget{Max: max(r.Max, 1), ByZone: r.ByZone}.Split(s, due)
	if len(now) > 0 {
		d.Why = plan.RequestedByUser
		d.Actions = []plan.Action{plan.MarkForRemoval{Groups: now, At: s.Now}}
	}
	switch {
	case len(nameless) > 0:
		d.Hold = &plan.Hold{Code: plan.HoldNoAddress, Manual: true, Subjects: phrase.Strings(nameless), Reason: fmt.Sprintf(
			"%s never had an address to exclude; add it to spec.processGroupsToRemoveWithoutExclusion if it never ran", readings.SomeOf(nameless))}
	case len(later) > 0:
		d.Hold = &plan.Hold{Code: plan.HoldReplacementBudget, RetryAfter: cluster.PodUpdateRetry, Follows: true, Subjects: phrase.Strings(later), Reason: fmt.Sprintf(
			"replacement of %s waits until others are drained: %s at once", readings.SomeOf(later), r.pace())}
	}
	return d
}

// splitByTrace separates the groups that cannot be excluded.
func splitByTrace(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) (due []*v1beta2.ProcessGroupStatus, nameless []v1beta2.ProcessGroupID) {
	for _, g := range groups {
		if replacements.WithoutTrace(s, g) {
			nameless = append(nameless, g.ProcessGroupID)
		} else {
			due = append(due, g)
		}
	}
	return due, nameless
}

func (r Replacement) pace() string {
	if r.ByZone {
		return phrase.Count(max(r.Max, 1), "fault domain")
	}
	return phrase.Count(max(r.Max, 1), "process group")
}

// KeepGroups returns a stage that reverts the marks of process groups from which no data was
// moved yet. A group that the spec lists would be marked again.
func KeepGroups(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageKeepGroups,
		Reads: plan.ClusterResource | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			var d plan.Decision
			var keep, listed, late []v1beta2.ProcessGroupID
			for _, id := range groups {
				g := s.Cluster.ProcessGroup(id)
				if g == nil || !g.IsMarkedForRemoval() {
					continue
				}
				check := safety.Untouched(s, g)
				d.Checks = append(d.Checks, check)
				switch {
				case readings.ListedForRemoval(s.Cluster, id) != "":
					listed = append(listed, id)
				case !check.OK:
					late = append(late, id)
				default:
					keep = append(keep, id)
				}
			}
			if len(keep) > 0 {
				d.Why, d.Actions = plan.RequestedByUser, []plan.Action{plan.KeepGroups{Groups: keep}}
			}
			d.Hold = cannotStay(d, listed, late)
			return d
		},
	}
}

func cannotStay(d plan.Decision, listed, late []v1beta2.ProcessGroupID) *plan.Hold {
	switch {
	case len(listed) > 0:
		return &plan.Hold{Code: plan.HoldRemovalInSpec, Manual: true, Subjects: phrase.Strings(listed), Reason: "the spec lists for removal: " + readings.SomeOf(listed) +
			"; delete them from spec.processGroupsToRemove and spec.processGroupsToRemoveWithoutExclusion first"}
	case len(late) > 0:
		refused, _ := d.Refused()
		return &plan.Hold{Code: plan.HoldTooLateToKeep, Manual: true, Subjects: phrase.Strings(late), Reason: "too late to keep " + readings.SomeOf(late) + ": " + refused.Evidence}
	default:
		return nil
	}
}
