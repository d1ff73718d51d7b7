package evictionhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// How long a slot stays taken that is not released. Both are counted from when this process saw
// the Lease unchanged first, so the clocks of replicas need not agree.
const (
	// decisionLimit is that of a decision; the API server waits 30 s at most for an answer.
	decisionLimit = 30 * time.Second
	// evictionLimit is that of an allowed eviction whose pod still runs: a disruption budget may
	// have denied it, or the client that requested it ended.
	evictionLimit = time.Minute
	// releaseLimit bounds the release of a slot, which happens after the answer was determined.
	releaseLimit = 2 * time.Second
)

// annotationEvicted on a Lease is the pod whose eviction was allowed last, with its UID, until
// another eviction is decided.
const annotationEvicted = "kubectl-fdb/evicted"

// SlotName is the name of the Lease that serializes the evictions of a cluster.
func SlotName(cluster string) string { return "kubectl-fdb-evictions-" + cluster }

// busyError means that another eviction is being decided, or under way.
type busyError struct{ why string }

func (e *busyError) Error() string { return e.why }

// slots serialize the evictions of each cluster: within this process by a turn that requests wait
// for, and between processes by a Lease. The zero value is ready for use.
type slots struct {
	mu    sync.Mutex
	turns map[types.NamespacedName]chan struct{}
	seen  map[types.NamespacedName]observation
	// waiting are the evictions that were refused because of another one, by cluster.
	waiting map[types.NamespacedName]map[string]wait
}

// wait is since when an eviction has been refused because of others, and when it was requested last.
type wait struct{ since, last time.Time }

// patience is how long after its last request an eviction still waits: clients try again after 5 s.
const patience = 15 * time.Second

// noteWait notes that an eviction was refused because of another one.
func (s *slots) noteWait(e Eviction, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[types.NamespacedName]map[string]wait{}
	}
	if s.waiting[e.Cluster] == nil {
		s.waiting[e.Cluster] = map[string]wait{}
	}
	w, known := s.waiting[e.Cluster][evictedText(e)]
	if !known || now.Sub(w.last) > patience {
		w.since = now
	}
	w.last = now
	s.waiting[e.Cluster][evictedText(e)] = w
}

// served ends the wait of an eviction.
func (s *slots) served(e Eviction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting[e.Cluster], evictedText(e))
}

// yields reports whether another eviction has waited for longer. The one that was allowed last and did not
// happen waits behind the others, so that repeated requests for one pod cannot keep all others from their turn.
func (s *slots) yields(e Eviction, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, waits := s.waiting[e.Cluster][evictedText(e)]
	for text, w := range s.waiting[e.Cluster] {
		switch {
		case now.Sub(w.last) > patience:
			delete(s.waiting[e.Cluster], text)
		case text != evictedText(e) && (!waits || w.since.Before(own.since)):
			return true
		}
	}
	return false
}

// observation is since when this process has seen a Lease unchanged, and the pod that was allowed last.
type observation struct {
	version, pod  string
	epoch         Epoch
	since, begins time.Time
}

// slot is the right to decide about one eviction of a cluster.
type slot struct {
	slots *slots
	hook  *Hook
	lease *coordinationv1.Lease
	e     Eviction
	epoch Epoch
	turn  chan struct{}
}

// take waits for the turn within this process and takes the Lease. It returns a *busyError where
// another process has it, or where the eviction that was allowed last is not over.
func (s *slots) take(ctx context.Context, h *Hook, e Eviction, owner types.UID) (*slot, error) {
	turn := s.turnOf(e.Cluster)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, &busyError{"other evictions of the cluster are reviewed first"}
	}
	taken, err := s.takeLease(ctx, h, e, owner)
	if err != nil {
		if _, busy := errors.AsType[*busyError](err); busy {
			s.noteWait(e, h.Clock.Now())
		}
		<-turn
		return nil, err
	}
	taken.turn = turn
	return taken, nil
}

func (s *slots) turnOf(cluster types.NamespacedName) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == nil {
		s.turns, s.seen = map[types.NamespacedName]chan struct{}{}, map[types.NamespacedName]observation{}
	}
	if s.turns[cluster] == nil {
		s.turns[cluster] = make(chan struct{}, 1)
	}
	return s.turns[cluster]
}

func (s *slots) takeLease(ctx context.Context, h *Hook, e Eviction, owner types.UID) (*slot, error) {
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: e.Cluster.Namespace, Name: SlotName(e.Cluster.Name)}
	err := h.Client.Get(ctx, key, lease)
	switch {
	case apierrors.IsNotFound(err):
		lease = newLease(key, e, owner)
		claim(lease, h)
		err = h.Client.Create(ctx, lease)
	case err != nil:
		return nil, fmt.Errorf("read the Lease %s: %w", key.Name, err)
	default:
		if err := s.isFree(ctx, h, e, lease); err != nil {
			return nil, err
		}
		claim(lease, h)
		err = h.Client.Update(ctx, lease)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil, &busyError{"another replica of the webhook reviews another eviction"}
	}
	if err != nil {
		return nil, fmt.Errorf("take the Lease %s: %w", key.Name, err)
	}
	return &slot{slots: s, hook: h, lease: lease, e: e, epoch: epochOf(lease)}, nil
}

// epochOf is the epoch of a cluster: the number of transitions is that of allowed evictions.
func epochOf(lease *coordinationv1.Lease) Epoch {
	return Epoch(ptr.Deref(lease.Spec.LeaseTransitions, 0))
}

// newLease is the Lease of a cluster without one. Kubernetes deletes it with the cluster.
func newLease(key types.NamespacedName, e Eviction, owner types.UID) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: clusterKind, Name: e.Cluster.Name, UID: owner}},
	}}
}

// claim notes that this process decides.
func claim(lease *coordinationv1.Lease, h *Hook) {
	lease.Spec.HolderIdentity = new(h.Identity)
	lease.Spec.RenewTime = new(metav1.NewMicroTime(h.Clock.Now()))
	lease.Spec.LeaseDurationSeconds = new(int32(decisionLimit / time.Second))
}

// isFree returns a *busyError if another replica holds the Lease, or an eviction is not over.
func (s *slots) isFree(ctx context.Context, h *Hook, e Eviction, lease *coordinationv1.Lease) error {
	unchanged, held := s.agesOf(e.Cluster, lease, h.Clock.Now())
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" && holder != h.Identity && unchanged < decisionLimit {
		return &busyError{"replica " + holder + " of the webhook reviews another eviction"}
	}
	text, evicted := lease.Annotations[annotationEvicted]
	switch {
	case evicted && text == evictedText(e) && held < renewLimit:
		return nil // the same pod again: the eviction did not happen
	case evicted && text != evictedText(e) && held < evictionLimit:
		over, err := isOver(ctx, h.Client, e.Cluster.Namespace, text)
		if err != nil {
			return err
		}
		if !over {
			return &busyError{"the eviction of " + text + " was allowed and is not over"}
		}
	}
	if s.yields(e, h.Clock.Now()) {
		return &busyError{"another eviction of the cluster has waited for longer"}
	}
	return nil
}

// renewLimit is for how long the pod whose eviction was allowed last has it allowed again while others wait: the
// last time, its slot lasts for as long once more.
const renewLimit = evictionLimit / 2

// agesOf are for how long this process has seen the Lease as it is, and the pod whose eviction was allowed last.
// Allowing the same one again is no longer age, except after renewLimit, when no other one waits.
func (s *slots) agesOf(cluster types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (unchanged, held time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.seen[cluster]
	if !known || last.version != lease.ResourceVersion {
		last.version, last.since = lease.ResourceVersion, now
	}
	if pod := lease.Annotations[annotationEvicted]; !known || last.pod != pod || last.epoch != epochOf(lease) && now.Sub(last.begins) >= renewLimit {
		last.pod, last.begins = pod, now
	}
	last.epoch = epochOf(lease)
	s.seen[cluster] = last
	return now.Sub(last.since), now.Sub(last.begins)
}

func evictedText(e Eviction) string { return e.Pod + " " + string(e.UID) }

// isOver reports whether an evicted pod terminates or is deleted, so that every later observation
// shows it.
func isOver(ctx context.Context, c client.Reader, namespace, text string) (bool, error) {
	var name, uid string
	if _, err := fmt.Sscan(text, &name, &uid); err != nil {
		return false, fmt.Errorf("parse annotation %s of a Lease: %w", annotationEvicted, err)
	}
	pod := &corev1.Pod{}
	switch err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod); {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read pod %s, whose eviction was allowed: %w", name, err)
	}
	return string(pod.UID) != uid || pod.DeletionTimestamp != nil, nil
}

// keep records that the eviction is allowed, and begins the next epoch. Until that is stored the
// eviction must not be allowed: another replica would not know of it.
func (s *slot) keep(ctx context.Context) error {
	defer func() { <-s.turn }()
	s.lease.Spec.HolderIdentity = nil
	s.lease.Spec.LeaseTransitions = new(ptr.Deref(s.lease.Spec.LeaseTransitions, 0) + 1)
	metav1.SetMetaDataAnnotation(&s.lease.ObjectMeta, annotationEvicted, evictedText(s.e))
	if err := s.hook.Client.Update(ctx, s.lease); err != nil {
		if apierrors.IsConflict(err) {
			return errors.New("another replica of the webhook took over in the meantime")
		}
		return fmt.Errorf("record the eviction in the Lease %s: %w", s.lease.Name, err)
	}
	return nil
}

// release ends a decision that denied the eviction. A Lease that cannot be written is free after decisionLimit.
func (s *slot) release(ctx context.Context) {
	defer func() { <-s.turn }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	s.lease.Spec.HolderIdentity = nil
	_ = s.hook.Client.Update(ctx, s.lease)
}
