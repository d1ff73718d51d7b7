package why

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
