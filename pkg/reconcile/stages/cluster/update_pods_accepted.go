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

// deletesPods reports whether a decision takes pods down.
func deletesPods(d plan.Decision) bool {
	return slices.ContainsFunc(d.Actions, func(a plan.Action) bool { _, is := a.(plan.DeletePods); return is })
}

// keepRefused returns the decision without the deletion of pods that the API server would not accept again with the
// current spec: the pod that runs stays.
func keepRefused(s plan.Snapshot, d plan.Decision) plan.Decision {
	var kept []v1beta2.ProcessGroupID
	var evidence string
	checked := map[v1beta2.ProcessClass]plan.Check{}
	accepted := func(id v1beta2.ProcessGroupID) bool {
		class := s.Cluster.ProcessGroup(id).ProcessClass
		c, seen := checked[class]
		if !seen {
			c = safety.RecreationAccepted(s, class)
			checked[class] = c
			d.Checks = append(d.Checks, c)
		}
		if !c.OK {
			kept, evidence = append(kept, id), c.Evidence
		}
		return c.OK
	}
	var actions []plan.Action
	for _, a := range d.Actions {
		deletion, is := a.(plan.DeletePods)
		if is {
			deletion.Pods = slices.DeleteFunc(slices.Clone(deletion.Pods), func(p plan.PodOfGroup) bool { return !accepted(p.Group) })
			a = deletion
		}
		if !is || len(deletion.Pods) > 0 {
			actions = append(actions, a)
		}
	}
	if len(kept) == 0 {
		return d
	}
	d.Hold = &plan.Hold{
		Code: plan.HoldAdmissionRefused, Manual: true, Subjects: phrase.Strings(kept), Detail: evidence,
		Reason: fmt.Sprintf("%s %s the old spec: the API server would not accept the new pod", readings.SomeOf(kept), phrase.Either(len(kept), "keeps", "keep")),
	}
	if d.Actions = actions; !deletesPods(d) {
		d.Actions, d.Why = nil, ""
	}
	return d
}
