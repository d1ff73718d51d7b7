package replacements

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

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
