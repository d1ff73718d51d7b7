package why

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
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

// keptHold returns the hold that prevents the mark of a group from being reverted, although the spec
// keeps it; nil for none.
func (w *why) keptHold(g *v1beta2.ProcessGroupStatus) *planned.PlanHold {
	for i, h := range w.Plan.Holds {
		if h.Stage == plan.StageCancelReplacements && slices.Contains(h.Subjects, string(g.ProcessGroupID)) {
			return &w.Plan.Holds[i]
		}
	}
	return nil
}

// reverts reports whether the next pass does something to revert the mark of a group that the spec
// keeps.
func (w *why) reverts(g *v1beta2.ProcessGroupStatus) bool {
	_, acts := w.itemFor(plan.StageCancelReplacements, g.ProcessGroupID)
	return acts && w.Cluster.KeepsFromReplacement(g.ProcessGroupID)
}

// kept adds why a group that the spec keeps is still marked for removal.
func (w *why) kept(c *Chain, g *v1beta2.ProcessGroupStatus) {
	h := *w.keptHold(g)
	w.reported[h.Stage] = true
	c.Reasons = append(c.Reasons, w.held(h))
	c.judgeHold(h)
	c.Next = append(c.Next, w.nextFor(h)...)
}

// patchesFor returns the commands that lift a hold about what the spec keeps: each alone resolves
// it. None is returned for another hold.
func (w *why) patchesFor(h planned.PlanHold) []string {
	if w.Cluster == nil {
		return nil
	}
	var patches []string
	add := func(patch string) { patches = append(patches, w.Kubectl(inspect.PatchWords(w.name, patch)...)) }
	switch {
	case h.Code == plan.HoldKeptDiffer, h.Code == plan.HoldTooLateToKeep && h.Stage == plan.StageCancelReplacements:
		add(inspect.KeepPatch(w.Cluster, inspect.KeptWithout(w.Cluster, h.Subjects)))
	case h.Code == plan.HoldSpecContradiction && h.Stage == plan.StageCancelReplacements:
		add(inspect.KeepPatch(w.Cluster, inspect.KeptWithout(w.Cluster, h.Subjects)))
		add(inspect.RemovalPatch(w.Cluster, h.Subjects))
	case h.Code == plan.HoldSpecContradiction && h.Stage == plan.StageChooseRemovals:
		add(inspect.KeepPatch(w.Cluster, inspect.KeptWithout(w.Cluster, w.tooManyKept(h.Subjects))))
	}
	return patches
}

// tooManyKept returns those of the kept groups, the last ones by ID, that exceed the desired count of
// their class.
func (w *why) tooManyKept(kept []string) []string {
	desired, seen := w.Cluster.DesiredProcessCounts(), map[v1beta2.ProcessClass]int{}
	var tooMany []string
	for _, id := range kept {
		g := w.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id))
		if g == nil {
			continue
		}
		if seen[g.ProcessClass]++; seen[g.ProcessClass] > max(desired[g.ProcessClass], 0) {
			tooMany = append(tooMany, id)
		}
	}
	return tooMany
}

// keptChains returns the chains of the groups that the spec keeps and that need a user, each with the
// patches that resolve it.
func (w *why) keptChains() []Chain {
	var chains []Chain
	for _, h := range w.Plan.Holds {
		subjects := w.about(h.Subjects)
		if w.reported[h.Stage] || len(subjects) == 0 || len(w.patchesFor(h)) == 0 {
			continue
		}
		w.reported[h.Stage] = true
		c := Chain{Subjects: subjects, Reasons: []Link{w.held(h)}}
		c.summarize("kept "+h.Key(), func(n int) string {
			return phrase.Is(n) + " kept by " + string(v1beta2.ExtensionCancelReplacements)
		})
		c.judgeHold(h)
		c.Next = w.nextFor(h)
		chains = append(chains, c)
	}
	return chains
}

// about returns those of some process groups that the report is about.
func (w *why) about(ids []string) []string {
	if len(w.Only) == 0 {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(w.Only, v1beta2.ProcessGroupID(id)) })
}
