package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RecreationRoom is what the quotas of the namespace have left for pods that take the place of smaller ones.
type RecreationRoom struct {
	s     plan.Snapshot
	room  admission.Room
	after map[v1beta2.ProcessClass]*corev1.Pod
}

// NewRecreationRoom returns the room before the first pod is recreated.
func NewRecreationRoom(s plan.Snapshot) *RecreationRoom {
	return &RecreationRoom{s: s, room: admission.Room{Facts: s.Successors.Namespace}, after: map[v1beta2.ProcessClass]*corev1.Pod{}}
}

// Fits checks that the quotas have room for what the pod of a process group takes more once it is recreated, beside
// those that were checked before. Quotas that cannot be read refuse nothing: the dry run of a whole pod comes before.
func (r *RecreationRoom) Fits(id v1beta2.ProcessGroupID) plan.Check {
	c := plan.Check{
		ID: plan.CheckRecreationFits, Subject: string(id), Gate: plan.GateAdmission, OK: true,
		Question: fmt.Sprintf("do the ResourceQuotas have room for the pod of %s as the spec has it?", id), Evidence: "it takes no more than they have left",
	}
	if hidden := r.room.Facts.QuotasHidden; hidden != "" {
		c.Evidence = "cannot determine: " + hidden
		return c
	}
	g := r.s.Cluster.ProcessGroup(id)
	before := r.s.Pod(g)
	if before == nil {
		return c // nothing is deleted
	}
	after, err := r.pod(g.ProcessClass)
	if err != nil {
		c.OK, c.Evidence = false, "cannot determine: "+err.Error()
		return c
	}
	if lacks := r.room.Replace(before, after); len(lacks) > 0 {
		c.OK, c.Evidence = false, shortages(lacks)+"; "+plan.Refusal{Kind: plan.RefusedByQuota}.Remedy()
	}
	return c
}

// pod returns a pod of a class as the spec has it.
func (r *RecreationRoom) pod(class v1beta2.ProcessClass) (*corev1.Pod, error) {
	if pod := r.after[class]; pod != nil {
		return pod, nil
	}
	pod, _, err := objects.Successor(r.s.Cluster, class)
	r.after[class] = pod
	return pod, err
}

func shortages(lacks []admission.Shortage) string {
	words := make([]string, len(lacks))
	for i, l := range lacks {
		words[i] = fmt.Sprintf("%s more of %s, ResourceQuota %s has %s left", l.Needs, l.Resource, l.Quota, l.Left)
	}
	return phrase.List(words)
}
