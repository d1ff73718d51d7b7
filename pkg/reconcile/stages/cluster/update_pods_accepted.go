package cluster

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// WithRecreation returns a stage that deletes only those of its pods which the API server would accept again: a dry run
// of a pod of each class comes before the first deletion of a pass. The process of a deleted pod that cannot be created
// again is missed until a user helps.
func WithRecreation(of plan.Stage) plan.Stage {
	decide := of.Decide
	of.More |= plan.Successors
	of.Matters = func(s plan.Snapshot) bool { return readings.Has[plan.DeletePods](decide(s)) }
	of.Decide = func(s plan.Snapshot) plan.Decision { return keepRefused(s, decide(s)) }
	return of
}

// keepRefused returns the decision without the deletion of pods that the API server would not accept again with the
// current spec: the pod that runs stays.
func keepRefused(s plan.Snapshot, d plan.Decision) plan.Decision {
	if !readings.Has[plan.DeletePods](d) {
		return d
	}
	a := &acceptance{s: s, room: safety.NewRecreationRoom(s), classes: map[v1beta2.ProcessClass]plan.Check{}}
	d = readings.Narrowed(d, func(deletion plan.DeletePods) (plan.DeletePods, bool) {
		deletion.Pods = slices.DeleteFunc(slices.Clone(deletion.Pods), func(p plan.PodOfGroup) bool { return !a.accepts(p.Group) })
		return deletion, len(deletion.Pods) > 0
	})
	d.Checks = append(d.Checks, a.checks...)
	if len(a.kept) > 0 {
		hold := a.hold()
		if d.Hold != nil && readings.Has[plan.DeletePods](d) {
			hold.Then = d.Hold.Then
		}
		d.Hold = hold
	}
	if !readings.Has[plan.DeletePods](d) {
		d.Actions, d.Why = nil, ""
	}
	return d
}

// acceptance are the answers about the pods that would be recreated.
type acceptance struct {
	s       plan.Snapshot
	room    *safety.RecreationRoom
	classes map[v1beta2.ProcessClass]plan.Check
	checks  []plan.Check
	kept    []v1beta2.ProcessGroupID
	// refused is the check of the first pod that is kept for a rule that only a user changes, or for a quota.
	refused *plan.Check
}

func (a *acceptance) accepts(id v1beta2.ProcessGroupID) bool {
	c := a.ofClass(a.s.Cluster.ProcessGroup(id).ProcessClass)
	if c.OK {
		if c = a.room.Fits(id); !c.OK {
			a.checks = append(a.checks, c)
		}
	}
	if !c.OK {
		a.kept = append(a.kept, id)
		if a.refused == nil || a.refused.ID == plan.CheckRecreationFits {
			a.refused = &c
		}
	}
	return c.OK
}

func (a *acceptance) ofClass(class v1beta2.ProcessClass) plan.Check {
	c, asked := a.classes[class]
	if !asked {
		c = safety.RecreationAccepted(a.s, class)
		a.classes[class] = c
		a.checks = append(a.checks, c)
	}
	return c
}

func (a *acceptance) hold() *plan.Hold {
	keeps := phrase.Either(len(a.kept), "keeps its pod", "keep their pods")
	h := &plan.Hold{
		Code: plan.HoldAdmissionRefused, Manual: true, Subjects: phrase.Strings(a.kept), Detail: a.refused.Evidence,
		Reason: fmt.Sprintf("%s %s: the API server would not accept the new pod", readings.SomeOf(a.kept), keeps),
	}
	if a.refused.ID == plan.CheckRecreationFits {
		h.Code, h.Manual, h.RetryAfter = plan.HoldQuotaExhausted, false, plan.PodDelay
		h.Reason = fmt.Sprintf("%s %s: a ResourceQuota has no room for the larger pod", readings.SomeOf(a.kept), keeps)
	}
	return h
}
