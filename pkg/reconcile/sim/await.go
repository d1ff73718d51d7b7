package sim

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Await lets time pass until something changes that a run sees while it waits, which are the pods and what a poll shows
// of the database, and at most d. It looks once per step while anything happens, and returns how long it was.
func (w *Cluster) Await(ctx context.Context, d, step time.Duration) (passed time.Duration) {
	phases, before := w.phases(), w.database(ctx).Status
	for passed < d {
		if idle := w.site.idleFor(); idle > 0 {
			idle = min(idle, d-passed)
			w.Tick(idle)
			passed += idle
			continue
		}
		next := min(d-passed, step)
		event, due := w.FDB.NextEvent()
		due = due && !event.After(w.Now().Add(next))
		w.Tick(next)
		passed += next
		if w.phasesDiffer(phases) || due && changed(before, w.database(ctx).Status) {
			return passed
		}
	}
	return passed
}

// changed reports whether a poll shows a change between two documents; nil is no answer.
func changed(before, now *fdb.Status) bool {
	if before == nil || now == nil {
		return before != now
	}
	return now.ChangedSince(before)
}

// podPhase is what a watch shows of a pod's progress.
type podPhase struct {
	uid     types.UID
	phase   corev1.PodPhase
	ready   bool
	leaving bool
}

func phaseOf(p *corev1.Pod) podPhase {
	s := podPhase{uid: p.UID, phase: p.Status.Phase, leaving: p.DeletionTimestamp != nil, ready: len(p.Status.ContainerStatuses) > 0}
	for _, c := range p.Status.ContainerStatuses {
		s.ready = s.ready && c.Ready
	}
	return s
}

func (w *Cluster) phases() map[string]podPhase {
	all := make(map[string]podPhase, len(w.Pods))
	for name, pod := range w.Pods {
		all[name] = phaseOf(pod)
	}
	return all
}

func (w *Cluster) phasesDiffer(before map[string]podPhase) bool {
	if len(before) != len(w.Pods) {
		return true
	}
	for name, pod := range w.Pods {
		if before[name] != phaseOf(pod) {
			return true
		}
	}
	return false
}
