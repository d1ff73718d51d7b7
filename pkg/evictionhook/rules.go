package evictionhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Rules is the Decider that observes a cluster and evaluates the eviction rules, those of drain and
// can drain.
type Rules struct {
	// Observer returns the observer of a cluster. It is called once for each.
	Observer func(cluster types.NamespacedName) (reconcile.Observer, error)
	Clock    clock.PassiveClock

	mu   sync.Mutex
	seen map[types.NamespacedName]*observed
}

// observed is the newest observation of a cluster.
type observed struct {
	turn     chan struct{} // one observation at a time
	observer reconcile.Observer
	snap     plan.Snapshot
	epoch    Epoch
	at       time.Time
}

// reuseFor is how long an observation serves further evictions of the same epoch: those of all
// pods of a node are requested at once.
const reuseFor = 5 * time.Second

// decisive are the facets that the rules read.
const decisive = plan.ClusterResource | plan.Pods | plan.Volumes | plan.Database | plan.Coordination

// Decide implements Decider.
func (r *Rules) Decide(ctx context.Context, e Eviction, epoch Epoch) ([]plan.Check, error) {
	s, err := r.observe(ctx, e.Cluster, epoch)
	if err != nil {
		return nil, err
	}
	g := groupOfPod(s, e.Pod)
	switch pod := s.Pods[e.Pod]; {
	case g == nil:
		return nil, fmt.Errorf("the status of %s has no process group with the pod %s", e.Cluster.Name, e.Pod)
	case pod == nil || pod.UID != e.UID:
		return nil, fmt.Errorf("pod %s was deleted or recreated in the meantime", e.Pod)
	}
	return EvictionChecks(s, g), nil
}

// EvictionChecks are the checks that must hold before another client may evict the pod of a group.
func EvictionChecks(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []plan.Check {
	checks := append([]plan.Check{notIsolated(s, g)}, safety.MayEvict(s, g)...)
	if safety.HoldsNothing(s, g) && !g.ProcessClass.IsTester() && !safety.NoDatabaseYet(s) {
		checks = append(checks, safety.OthersOfClassUp(s, g))
	}
	return checks
}

// notIsolated checks that no user keeps the pod for debugging.
func notIsolated(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckNotIsolated, Subject: string(g.ProcessGroupID), Question: fmt.Sprintf("may the pod of %s be deleted?", g.ProcessGroupID), Gate: plan.GateReplicas}
	c.OK, c.Evidence = true, "its pod is not isolated"
	if pod := s.Pod(g); pod != nil && pod.Annotations[v1beta2.AnnotationIsolateProcessGroup] == "true" {
		c.OK, c.Evidence = false, fmt.Sprintf("annotation %s keeps its pod for debugging", v1beta2.AnnotationIsolateProcessGroup)
	}
	return c
}

func groupOfPod(s plan.Snapshot, pod string) *v1beta2.ProcessGroupStatus {
	for _, g := range s.Groups() {
		if g.PodName(s.Cluster) == pod {
			return g
		}
	}
	return nil
}

// observe returns an observation of the epoch, a recent one if there is one.
func (r *Rules) observe(ctx context.Context, cluster types.NamespacedName, epoch Epoch) (plan.Snapshot, error) {
	o := r.observedOf(cluster)
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return plan.Snapshot{}, fmt.Errorf("observe %s: %w", cluster.Name, ctx.Err())
	}
	if age := r.Clock.Since(o.at); epoch != NoEpoch && o.epoch == epoch && o.snap.Cluster != nil && age >= 0 && age < reuseFor {
		return o.snap, nil
	}
	if o.observer == nil {
		observer, err := r.Observer(cluster)
		if err != nil {
			return plan.Snapshot{}, fmt.Errorf("observe %s: %w", cluster.Name, err)
		}
		o.observer = observer
	}
	var snap plan.Snapshot
	at := r.Clock.Now() // the facts are at least as new as that
	if err := o.observer.Observe(ctx, &snap, decisive); err != nil {
		return plan.Snapshot{}, fmt.Errorf("observe %s: %w", cluster.Name, err)
	}
	if epoch != NoEpoch {
		o.snap, o.epoch, o.at = snap, epoch, at
	}
	return snap, nil
}

func (r *Rules) observedOf(cluster types.NamespacedName) *observed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[types.NamespacedName]*observed{}
	}
	if r.seen[cluster] == nil {
		r.seen[cluster] = &observed{turn: make(chan struct{}, 1)}
	}
	return r.seen[cluster]
}
