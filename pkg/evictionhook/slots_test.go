package evictionhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// pods are n pods of the cluster.
func pods(n int) (objects []client.Object) {
	for i := range n {
		objects = append(objects, pod(fmt.Sprintf("log-%d", i)))
	}
	return objects
}

// Whoever asks at the same time, of whatever replica: one eviction is allowed.
func TestOneOfManyConcurrentEvictionsIsAllowed(t *testing.T) {
	const replicas, each = 3, 8
	g := newGiven(t, pods(replicas*each)...)
	var wait sync.WaitGroup
	for i := range replicas {
		h := g.replica(fmt.Sprintf("replica-%d", i))
		for j := range each {
			wait.Go(func() { h.Review(t.Context(), request(fmt.Sprintf("sample-log-%d", i*each+j))) })
		}
	}
	wait.Wait()
	count := map[Outcome]int{}
	for _, a := range g.answers {
		count[a.Outcome]++
	}
	if count[Allowed] != 1 || count[Allowed]+count[Busy] != replicas*each {
		t.Errorf("%v", count)
	}
}

func TestTheNextEvictionWaitsUntilThePreviousPodIsDeleted(t *testing.T) {
	g := newGiven(t)
	first, second := request("sample-storage-1"), request("sample-storage-2")
	if r := g.review(first); !r.Allowed {
		t.Fatalf("%+v", r)
	}
	if r := g.review(second); r.Allowed || g.last().Outcome != Busy {
		t.Errorf("while the first pod runs: %+v", g.last())
	}
	if r := g.review(first); !r.Allowed { // a disruption budget denied it after the webhook
		t.Errorf("the same pod again: %+v", r.Result)
	}
	if r := g.replica("replica-2").Review(t.Context(), second); r.Allowed {
		t.Error("another replica does not know of the first eviction")
	}
	if err := g.api.Delete(t.Context(), pod("storage-1")); err != nil {
		t.Fatal(err)
	}
	if r := g.review(second); !r.Allowed {
		t.Errorf("once the first pod is deleted: %+v", r.Result)
	}
}

// A pod that terminates or was recreated is one that every later observation shows.
func TestAnEvictionSlotIsReleasedOnceThePodTerminates(t *testing.T) {
	for name, given := range map[string]struct {
		edit func(*corev1.Pod)
		over bool
	}{
		"the pod runs":         {func(*corev1.Pod) {}, false},
		"the pod terminates":   {func(p *corev1.Pod) { p.Finalizers = []string{"example.com/wait"} }, true},
		"the pod is recreated": {func(p *corev1.Pod) { p.UID = "another" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			if r := g.review(request("sample-storage-1")); !r.Allowed {
				t.Fatalf("%+v", r)
			}
			old := pod("storage-1")
			changed := pod("storage-1", given.edit)
			if len(changed.Finalizers) > 0 {
				stored := &corev1.Pod{}
				if err := errors.Join(g.api.Get(t.Context(), client.ObjectKeyFromObject(old), stored)); err != nil {
					t.Fatal(err)
				}
				stored.Finalizers = changed.Finalizers
				if err := errors.Join(g.api.Update(t.Context(), stored), g.api.Delete(t.Context(), stored)); err != nil {
					t.Fatal(err)
				}
			} else if changed.UID != old.UID {
				if err := errors.Join(g.api.Delete(t.Context(), old), g.api.Create(t.Context(), changed)); err != nil {
					t.Fatal(err)
				}
			}
			if r := g.review(request("sample-storage-2")); r.Allowed != given.over {
				t.Errorf("allowed %t, want %t: %+v", r.Allowed, given.over, g.last())
			}
		})
	}
}

// An eviction that never happens, for a budget or a client that ended, blocks the others for a
// while only, by the clock of each replica.
func TestAnEvictionSlotExpiresIfTheEvictionNeverHappens(t *testing.T) {
	g := newGiven(t)
	g.review(request("sample-storage-1"))
	for _, step := range []struct {
		wait    time.Duration
		allowed bool
	}{{0, false}, {evictionLimit - time.Second, false}, {time.Second, true}} {
		g.clock.Step(step.wait)
		if r := g.review(request("sample-storage-2")); r.Allowed != step.allowed {
			t.Errorf("after another %s: %+v", step.wait, g.last())
		}
	}
}

// The replica is killed between its decision and its end.
func TestAnUnfinishedEvictionDecisionExpiresForOtherReplicas(t *testing.T) {
	g := newGiven(t)
	killed := g.replica("killed")
	decided := make(chan struct{})
	hanging, end := context.WithCancel(t.Context())
	g.decider.decide = func(ctx context.Context, e Eviction, _ Epoch) ([]plan.Check, error) {
		if e.Pod == "sample-storage-1" {
			close(decided)
			<-hanging.Done()
			return nil, ctx.Err()
		}
		return []plan.Check{holds}, nil
	}
	var wait sync.WaitGroup
	wait.Go(func() { killed.Review(t.Context(), request("sample-storage-1")) })
	<-decided
	for _, step := range []struct {
		wait    time.Duration
		allowed bool
	}{{0, false}, {decisionLimit - time.Second, false}, {time.Second, true}} {
		g.clock.Step(step.wait)
		if r := g.review(request("sample-storage-2")); r.Allowed != step.allowed {
			t.Errorf("after another %s: %+v", step.wait, g.last())
		}
	}
	end()
	wait.Wait()
}

// A replica that was thought dead allows nothing after another one took over.
func TestALateEvictionDecisionAllowsNothing(t *testing.T) {
	g := newGiven(t)
	late := g.replica("late")
	decided, goOn := make(chan struct{}), make(chan struct{})
	g.decider.decide = func(_ context.Context, e Eviction, _ Epoch) ([]plan.Check, error) {
		if e.Pod == "sample-storage-1" {
			close(decided)
			<-goOn
		}
		return []plan.Check{holds}, nil
	}
	answer := make(chan bool)
	go func() { answer <- late.Review(t.Context(), request("sample-storage-1")).Allowed }()
	<-decided
	g.review(request("sample-storage-2"))
	g.clock.Step(decisionLimit)
	if r := g.review(request("sample-storage-2")); !r.Allowed {
		t.Fatalf("%+v", r.Result)
	}
	close(goOn)
	if <-answer {
		t.Error("two evictions were allowed")
	}
}

// Facts of the time before an eviction do not show it.
func TestAnAllowedEvictionStartsANewEpoch(t *testing.T) {
	g := newGiven(t)
	g.decider.decide = says(refuses)
	g.review(request("sample-storage-1"))
	g.review(request("sample-storage-2"))
	g.decider.decide = says(holds)
	g.review(request("sample-storage-1"))
	if err := g.api.Delete(t.Context(), pod("storage-1")); err != nil {
		t.Fatal(err)
	}
	g.replica("replica-2").Review(t.Context(), request("sample-storage-2"))
	if got := fmt.Sprint(g.decider.epochs); got != "[0 0 0 1]" {
		t.Errorf("epochs %s", got)
	}
}

func TestTheEvictionLeaseIsOwnedByTheCluster(t *testing.T) {
	g := newGiven(t)
	g.review(request("sample-storage-1"))
	lease := &coordinationv1.Lease{}
	if err := g.api.Get(t.Context(), client.ObjectKey{Namespace: "fdb", Name: "kubectl-fdb-evictions-sample"}, lease); err != nil {
		t.Fatal(err)
	}
	if owners := lease.OwnerReferences; len(owners) != 1 || owners[0].UID != "uid-of-sample" || owners[0].Kind != "FoundationDBCluster" {
		t.Errorf("%+v", owners)
	}
	if lease.Spec.HolderIdentity != nil || lease.Annotations[annotationEvicted] != "sample-storage-1 uid-of-storage-1" {
		t.Errorf("%+v, %v", lease.Spec, lease.Annotations)
	}
}

// A request does not wait longer for its turn than its client waits for the answer.
func TestAWaitingEvictionRequestIsAnsweredBeforeItsTimeout(t *testing.T) {
	g := newGiven(t)
	decided, goOn := make(chan struct{}), make(chan struct{})
	g.decider.decide = func(_ context.Context, e Eviction, _ Epoch) ([]plan.Check, error) {
		close(decided)
		<-goOn
		return []plan.Check{holds}, nil
	}
	var wait sync.WaitGroup
	wait.Go(func() { g.hook.Review(t.Context(), request("sample-storage-1")) })
	<-decided
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if r := g.hook.Review(ctx, request("sample-storage-2")); r.Allowed || g.last().Outcome != Busy {
		t.Errorf("%+v", g.last())
	}
	close(goOn)
	wait.Wait()
}

// Whoever reaches the webhook can request the eviction of one pod continuously, and never evict it.
func TestRepeatedRequestsForOnePodCannotHoldTheSlotForever(t *testing.T) {
	g := newGiven(t)
	allowed := 0
	for range 3 * evictionLimit / (5 * time.Second) {
		if !g.review(request("sample-storage-1")).Allowed {
			allowed = 0 // it is another pod's turn
		}
		if g.review(request("sample-storage-2")).Allowed {
			return
		}
		allowed++
		g.clock.Step(5 * time.Second)
	}
	t.Errorf("storage-2 never had its turn: %+v, %d", g.last(), allowed)
}
