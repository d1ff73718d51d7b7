package trial

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// The documented waits, written out: with the constants of the stages a wrong constant would be right.
const (
	recoveredToExclude = 2 * time.Minute
	recoveredToInclude = 10 * time.Minute
	mayReportAgain     = 5 * time.Minute
	// noticeLag is by how much later a status can date that a process ended.
	noticeLag = time.Minute
)

// afterRecovery is how long the last recovery must be ago for an action; 0 for any time.
func afterRecovery(a plan.Action) time.Duration {
	switch a := any(a).(type) { // the others have waits of other kinds
	case plan.Exclude:
		return recoveredToExclude
	case plan.Include:
		return recoveredToInclude
	case plan.IncludeAndForget:
		if len(a.Targets) > 0 {
			return recoveredToInclude
		}
	}
	return 0
}

// followsARecovery judges by the recovery that the last status document could show.
func followsARecovery(h *History, d *deed) string {
	need := afterRecovery(d.action)
	if need == 0 || h.stale || d.k.recovered >= need {
		return ""
	}
	return fmt.Sprintf("the last recovery was %s ago, and %s are required", d.k.recovered.Round(time.Second), need)
}

// noteSilence notes since when no process of a pod answers, for each process group of the resource.
func (h *History) noteSilence() {
	for _, g := range h.w.Resource.Status.ProcessGroups {
		pod := g.PodName(h.w.Resource)
		if _, noted := h.silent[pod]; h.answers(pod) {
			delete(h.silent, pod)
		} else if !noted {
			h.silent[pod] = h.w.Now()
		}
	}
}

// excludesBesideOneThatMayReport judges the class of what is excluded: a process that ended a moment ago may be back,
// and until then the others are not counted. Those that ended within the last 90 s may not be known, nor those of a zone
// under maintenance, nor that one reported that no pass has ever seen.
func excludesBesideOneThatMayReport(h *History, d *deed) string {
	h.noteSilence()
	if _, maintained := h.database().Get("\xff/maintenance"); h.stale || maintained {
		return ""
	}
	for _, excluded := range excludedGroups(h, d) {
		for _, g := range h.w.Resource.Status.ProcessGroups {
			pod := g.PodName(h.w.Resource)
			since, silent := h.silent[pod]
			age := h.w.Now().Sub(since)
			if g.ProcessClass == excluded.ProcessClass && !g.IsRemovable() && g.FaultDomain != "" && silent && !d.before.shutOut[pod] && age > fdb.DeathNoticedAfter && age < mayReportAgain-noticeLag {
				return fmt.Sprintf("%s has not reported for %s, and may report again", g.ProcessGroupID, age)
			}
		}
	}
	return ""
}

// createsWithoutOwner judges objects: what has no owner outlives its cluster.
func createsWithoutOwner(h *History, d *deed) string {
	object := createdBy(d.action)
	if object == nil {
		return ""
	}
	if owner := metav1.GetControllerOf(object); owner == nil || owner.UID != h.w.Resource.UID {
		return object.GetName() + " is not owned by the cluster"
	}
	return ""
}

// createdBy is the object that an action writes as a whole, or nil.
func createdBy(a plan.Action) metav1.Object {
	switch a := any(a).(type) { // the others write no whole object
	case plan.CreatePod:
		return a.Object
	case plan.CreatePVC:
		return a.Object
	case plan.ApplyService:
		return a.Object
	case plan.ApplyConfigMap:
		return a.Object
	case plan.ApplyDisruptionBudget:
		return a.Object
	case plan.ApplyFailureDetector:
		return a.Object
	}
	return nil
}

// departure is a pod whose processes went down by our hand.
type departure struct {
	at     time.Time
	passes int
}

// How long, and for how many passes without troubles, what went down by our hand may not answer.
const (
	backWithin       = 5 * time.Minute
	backWithinPasses = 3
)

// noteDepartures notes pods that are to come back under their names, and processes that restart.
func (h *History) noteDepartures(d *deed) {
	note := func(pod string) { h.departed[pod] = departure{h.w.Now(), h.passes} }
	switch a := any(d.action).(type) { // the others let nothing go down that comes back
	case plan.DeletePods:
		for _, pod := range a.Pods {
			note(pod.Name)
		}
	case plan.RestartProcesses:
		for _, id := range a.Groups {
			if g := h.w.Resource.ProcessGroup(id); g != nil {
				note(g.PodName(h.w.Resource))
			}
		}
	}
}

// leavesToUser reports whether a pass named the process group of a pod as one that a user has to replace, or the last one as
// one that the list of the spec keeps from being replaced.
func (h *History) leavesToUser(w *sim.Cluster, pod string) bool {
	left := slices.Clone(h.going[w])
	for _, hold := range h.holds {
		if hold.Code == plan.HoldKeptDiffer {
			for _, id := range hold.Subjects {
				left = append(left, v1beta2.ProcessGroupID(id))
			}
		}
	}
	return slices.ContainsFunc(left, func(id v1beta2.ProcessGroupID) bool {
		g := w.Resource.ProcessGroup(id)
		return g != nil && g.PodName(w.Resource) == pod
	})
}

// doesNotComeBack judges what went down by our hand once all troubles are over: processes with a cluster file whose
// coordinators all moved meanwhile, and pods that no node takes, stay away.
func doesNotComeBack(h *History, _ *deed) string {
	for pod, left := range h.departed {
		w := h.home(pod)
		switch {
		case w != h.w, wasUpgraded(w): // one that did not start before an upgrade waits for its replacement
		case h.answers(pod), h.leaves(pod), w.Broken[pod]:
			delete(h.departed, pod)
		case !h.calm, h.leavesToUser(w, pod):
			h.departed[pod] = departure{h.w.Now(), h.passes}
		case h.w.Now().Sub(left.at) > backWithin && h.passes-left.passes >= backWithinPasses*len(h.clusters) && !h.truth().shutOut[pod]:
			return fmt.Sprintf("%s has been away for %s, and in passes %d", pod, h.w.Now().Sub(left.at), h.passes-left.passes)
		}
	}
	return ""
}
