package sim

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// rejects refuses pods and PVCs that the API server does not accept.
func (w *Cluster) rejects(a plan.Action) error {
	var id v1beta2.ProcessGroupID
	if pod, is := a.(plan.CreatePod); is {
		id = pod.Group
	}
	if claim, is := a.(plan.CreatePVC); is {
		id = claim.Group
	}
	g := w.Resource.ProcessGroup(id)
	if w.Reject == nil || g == nil {
		return nil
	}
	if r := w.Reject(g.ProcessClass); r != nil {
		return &reconcile.AdmissionError{Refusal: *r}
	}
	return nil
}

// successors answers the dry runs of new process groups.
func (w *Cluster) successors() plan.SuccessorFacts {
	facts := plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{}}
	for _, g := range w.Resource.Status.ProcessGroups {
		if w.Reject == nil {
			break
		}
		if r := w.Reject(g.ProcessClass); r != nil {
			facts.Refused[g.ProcessClass] = *r
		}
	}
	return facts
}

// firstObjects answers the dry runs of a cluster without process groups.
func (w *Cluster) firstObjects() plan.FirstObjectFacts {
	facts := plan.FirstObjectFacts{Read: true}
	for _, class := range slices.Sorted(maps.Keys(w.Resource.DesiredProcessCounts())) {
		if w.Reject == nil {
			break
		}
		if r := w.Reject(class); r != nil {
			facts.Refused = append(facts.Refused, *r)
		}
	}
	return facts
}
