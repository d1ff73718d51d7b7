package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Replacement is what a person wants replaced, and how fast.
type Replacement struct {
	Groups []v1beta2.ProcessGroupID
	// Most is how many process groups may be on their way out and not drained yet, whoever
	// asked for it. At least 1.
	Most int
	// ByZone has Most count fault domains instead.
	ByZone bool
}

// ReplaceGroups marks process groups that a person wants replaced, a few at a time. The
// stages of a pass do the rest; they add a new group for each that is marked.
func ReplaceGroups(r Replacement) plan.Stage {
	return plan.Stage{
		Name:  plan.StageReplaceGroups,
		Reads: plan.Record | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision {
			due := r.due(s)
			if len(due) == 0 {
				return plan.Decision{}
			}
			d := plan.Decision{Checks: []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database)}}
			if refused, ok := d.Refused(); ok {
				d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s %s to be replaced; none is marked for removal now", phrase.Count(len(due), "process group"), phrase.Is(len(due))), Detail: refused.Words(), RetryAfter: podDelay}
				return d
			}
			return r.mark(s, d, due)
		},
	}
}

// due are the groups that are not marked yet, in the order they were named.
func (r Replacement) due(s plan.Snapshot) []*v1beta2.ProcessGroupStatus {
	var due []*v1beta2.ProcessGroupStatus
	for _, id := range r.Groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !g.IsMarkedForRemoval() {
			due = append(due, g)
		}
	}
	return due
}

func (r Replacement) mark(s plan.Snapshot, d plan.Decision, due []*v1beta2.ProcessGroupStatus) plan.Decision {
	due, nameless := splitByTrace(s, due)
	now, later := withinBudget(s, due, max(r.Most, 1), r.ByZone)
	if len(now) > 0 {
		d.Why = "a person wants them replaced"
		d.Actions = []plan.Action{plan.MarkForRemoval{Groups: now, At: s.Now}}
	}
	switch {
	case len(nameless) > 0:
		d.Hold = &plan.Hold{Code: plan.HoldNoAddress, Human: true, Subjects: phrase.Strings(nameless), Reason: fmt.Sprintf(
			"%s never had an address to exclude; list it in spec.processGroupsToRemoveWithoutExclusion if it never ran", someOf(nameless))}
	case len(later) > 0:
		d.Hold = &plan.Hold{Code: plan.HoldReplacementBudget, RetryAfter: podUpdateRetry, Follows: true, Subjects: phrase.Strings(later), Reason: fmt.Sprintf(
			"%s have to wait until others are drained: %s at once", someOf(later), r.pace())}
	}
	return d
}

// splitByTrace takes out the groups that could be excluded under no name.
func splitByTrace(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) (due []*v1beta2.ProcessGroupStatus, nameless []v1beta2.ProcessGroupID) {
	for _, g := range groups {
		if withoutTrace(s, g) {
			nameless = append(nameless, g.ProcessGroupID)
		} else {
			due = append(due, g)
		}
	}
	return due, nameless
}

func (r Replacement) pace() string {
	if r.ByZone {
		return phrase.Count(max(r.Most, 1), "fault domain")
	}
	return phrase.Count(max(r.Most, 1), "process group")
}

// KeepGroups takes marks back, of process groups that were to be replaced and of which
// nothing was moved away yet. A spec that lists one would have it marked again.
func KeepGroups(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageKeepGroups,
		Reads: plan.Record | plan.Database | plan.Coordination,
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
				case isListedForRemoval(s.Cluster, id):
					listed = append(listed, id)
				case !check.OK:
					late = append(late, id)
				default:
					keep = append(keep, id)
				}
			}
			if len(keep) > 0 {
				d.Why, d.Actions = "a person wants them to stay", []plan.Action{plan.KeepGroups{Groups: keep}}
			}
			d.Hold = cannotStay(d, listed, late)
			return d
		},
	}
}

func isListedForRemoval(c *v1beta2.FoundationDBCluster, id v1beta2.ProcessGroupID) bool {
	return slices.Contains(c.Spec.ProcessGroupsToRemove, id) || slices.Contains(c.Spec.ProcessGroupsToRemoveWithoutExclusion, id)
}

func cannotStay(d plan.Decision, listed, late []v1beta2.ProcessGroupID) *plan.Hold {
	switch {
	case len(listed) > 0:
		return &plan.Hold{Code: plan.HoldRemovalInSpec, Human: true, Subjects: phrase.Strings(listed), Reason: "the spec lists for removal: " + someOf(listed) +
			"; take them off spec.processGroupsToRemove and spec.processGroupsToRemoveWithoutExclusion first"}
	case len(late) > 0:
		refused, _ := d.Refused()
		return &plan.Hold{Code: plan.HoldTooLateToKeep, Human: true, Subjects: phrase.Strings(late), Reason: "cannot be kept any more: " + someOf(late) + ": " + refused.Evidence}
	default:
		return nil
	}
}
