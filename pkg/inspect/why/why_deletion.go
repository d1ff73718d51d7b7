package why

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// deletions returns the chains of what is being deleted: the resource, its namespace, and PVCs whose data
// is not elsewhere. Kubernetes records who requested a deletion in its audit log alone, so no chain names
// a user.
func (w *why) deletions() []Chain {
	var chains []Chain
	if len(w.Only) == 0 {
		for _, d := range safety.Deletions(w.Snapshot) {
			chains = append(chains, w.deletion(d))
		}
	}
	w.reported[plan.StageCheckDeletion] = len(chains) > 0 // else it is overridden
	for _, g := range w.Groups() {
		if len(w.Only) > 0 && !slices.Contains(w.Only, g.ProcessGroupID) {
			continue
		}
		if w.GoingPVC(g) != nil {
			chains = append(chains, w.goingPVC(g))
		}
	}
	return chains
}

func (w *why) deletion(d safety.Deletion) Chain {
	c := Chain{Subjects: []string{w.subject}, State: Blocked, rank: rankDeletion, Since: inspect.Known(d.Since), Summary: "is being deleted"}
	if d.Kind == "Namespace" {
		c.Summary = "is in namespace " + d.Name + ", which is being deleted"
	}
	l := Link{Gate: plan.GateDeletion, Message: "all pods and PVCs go with it when it is removed, and no pass changes anything meanwhile"}
	if len(d.Finalizers) > 0 {
		l.Reasons = []Link{{Message: phrase.Either(len(d.Finalizers), "finalizer ", "finalizers ") + phrase.List(d.Finalizers) + phrase.Either(len(d.Finalizers), " holds it", " hold it")}}
	}
	c.Reasons = []Link{l}
	if retain := inspect.RetainArgs(w.VolumeNames()...); retain != nil {
		c.Next = append(c.Next, w.Kubectl(retain...))
	}
	return c
}

// goingPVC returns the chain of a process group whose PVC is being deleted. The fix is a replacement: its
// data moves while the pod still runs.
func (w *why) goingPVC(g *v1beta2.ProcessGroupStatus) Chain {
	claim, id := w.GoingPVC(g), string(g.ProcessGroupID)
	c := Chain{Subjects: []string{id}, State: Blocked, rank: rankGoing, Since: inspect.Known(claim.DeletionTimestamp.Time)}
	c.Summary = "has PVC " + claim.Name + ", which is being deleted"
	l := Link{Message: "no pod uses it any more"}
	if pod := w.Pod(g); pod != nil {
		l.Message = fmt.Sprintf("it stays until pod %s ends, which no pass causes before the data has moved", pod.Name)
	}
	if len(claim.Finalizers) > 0 {
		l.Message += "; held by " + phrase.Either(len(claim.Finalizers), "finalizer ", "finalizers ") + phrase.List(claim.Finalizers)
	}
	switch policy, known := safety.PolicyOf(w.Snapshot, claim); {
	case !known:
		l.Reasons = []Link{{Message: "the reclaim policy of volume " + phrase.Or(claim.Spec.VolumeName, phrase.Unknown) + " is unknown" + w.hiddenVolumes()}}
	default:
		l.Reasons = []Link{{Message: fmt.Sprintf("volume %s has the reclaim policy %s", claim.Spec.VolumeName, policy)}}
	}
	c.Reasons = []Link{l}
	c.Next = w.keepVolume(claim)
	switch {
	case g.IsMarkedForRemoval():
		c.State = Waiting
		c.Reasons = append(c.Reasons, Link{Message: "it is being replaced"})
		c.Next = append(c.Next, w.FDB("reconcile", w.name, "--wait"))
	default:
		c.Next = append(c.Next, w.FDB("replace", w.name, id))
	}
	return c
}

// keepVolume returns the command that keeps the volume of a PVC, unless it is kept already. It comes before a
// replacement, which removes the volume with its PVC.
func (w *why) keepVolume(claim *corev1.PersistentVolumeClaim) []string {
	policy, _ := safety.PolicyOf(w.Snapshot, claim)
	if claim.Spec.VolumeName == "" || policy == corev1.PersistentVolumeReclaimRetain {
		return nil
	}
	return []string{w.Kubectl(inspect.RetainArgs(claim.Spec.VolumeName)...)}
}

func (w *why) hiddenVolumes() string {
	if w.BoundVolumesHidden == "" {
		return ""
	}
	return ": " + w.BoundVolumesHidden
}
