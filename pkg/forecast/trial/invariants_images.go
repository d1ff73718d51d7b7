package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// takesDownForADeadTemplate counts the pods that ran and were deleted to be recreated from a template that
// cannot start, as long as they show that it cannot.
func takesDownForADeadTemplate(h *History, d *deed) string {
	tried := h.tried[h.w]
	a, deletes := d.action.(plan.DeletePods)
	if tried == nil || !deletes || !slices.Contains([]plan.StageName{plan.StageUpdatePods, "Rogue"}, d.stage) {
		return ""
	}
	maps.DeleteFunc(tried, func(name string, _ bool) bool { return h.showsNothing(name) })
	for _, pod := range a.Pods {
		if d.before.up[pod.Name] {
			tried[pod.Name] = true
		}
	}
	if len(tried) > 1 {
		names := []string{}
		for name := range tried {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Sprintf("%s ran before", strings.Join(names, " and "))
	}
	return ""
}

// showsNothing reports whether a pod shows nothing more of the template of the spec: it is removed for good, or it
// leaves with an older template, which no pass changes any more.
func (h *History) showsNothing(name string) bool {
	pod := h.w.Pods[name]
	i := slices.IndexFunc(h.w.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool { return g.PodName(h.w.Resource) == name })
	if i < 0 {
		return pod == nil
	}
	g := h.w.Resource.Status.ProcessGroups[i]
	if !g.IsMarkedForRemoval() || pod == nil {
		return g.IsMarkedForRemoval()
	}
	present, err := objects.NewSpecHashes(h.w.Resource).Of(g)
	return err == nil && pod.Annotations[v1beta2.AnnotationLastAppliedSpec] != present
}
