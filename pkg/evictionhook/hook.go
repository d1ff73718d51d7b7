package evictionhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Self are the pods of this webhook, which it never keeps from leaving: a webhook that cannot be
// drained, and without which nothing can be, would block every drain.
type Self struct {
	Namespace string
	Labels    map[string]string
}

// OwnLabels are the labels of the webhook's pods in the manifests.
func OwnLabels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "kubectl-fdb-eviction-webhook"}
}

// Hook judges evictions. Its methods may be called concurrently.
type Hook struct {
	// Client reads pods and clusters, and keeps the Leases that serialize evictions.
	Client  client.Client
	Decider Decider
	// Actor makes denied evictions possible; nil only answers.
	Actor *Acts
	Clock clock.PassiveClock
	Self  Self
	// Identity names this process in Leases; it must be another one after a restart.
	Identity string
	// Report receives every outcome, for metrics and logs. Nil reports nothing.
	Report func(Answer)

	slots slots
}

// Answer is what a request was answered.
type Answer struct {
	Outcome Outcome
	// Eviction is what was requested, as far as it is known.
	Eviction Eviction
	// Refused are the checks that do not hold.
	Refused []plan.Check
	// Message is the reason, as the user of the eviction reads it.
	Message string
	// Took is how long the answer took.
	Took time.Duration
	// Acts is true when the Actor was started for it.
	Acts bool
}

// Review answers one admission request. It never takes longer than ctx.
func (h *Hook) Review(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	began := h.Clock.Now()
	answer := h.judge(ctx, r)
	answer.Took = h.Clock.Since(began)
	if h.Report != nil {
		h.Report(answer)
	}
	response := allow()
	if answer.Outcome != Allowed && answer.Outcome != NotApplicable {
		response = deny(answer.Message, answer.Refused)
	} else if answer.Message != "" {
		response.Warnings = []string{answer.Message}
	}
	response.UID = r.UID
	return response
}

func (h *Hook) judge(ctx context.Context, r *admissionv1.AdmissionRequest) Answer {
	if !isEviction(r) {
		return Answer{Outcome: NotApplicable, Message: "kubectl fdb eviction-webhook answers for the creation of pods/eviction only; correct the rules of its ValidatingWebhookConfiguration"}
	}
	of, err := evictionOf(r)
	if err != nil {
		return Answer{Outcome: Invalid, Message: err.Error()}
	}
	name := of.pod
	e := Eviction{Cluster: types.NamespacedName{Namespace: r.Namespace}, Pod: name, User: r.UserInfo.Username, DryRun: of.dryRun}
	pod := &corev1.Pod{}
	switch err := h.Client.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: name}, pod); {
	case apierrors.IsNotFound(err):
		return Answer{Outcome: NotApplicable, Eviction: e} // the API server answers that itself
	case err != nil:
		return unknown(e, fmt.Errorf("read pod %s: %w", name, err))
	case h.isOwn(pod), !runs(pod), of.uid != nil && *of.uid != pod.UID: // the API server refuses another UID itself
		return Answer{Outcome: NotApplicable, Eviction: e}
	}
	e.UID, e.Node = pod.UID, pod.Spec.NodeName
	c, err := h.clusterOf(ctx, pod)
	switch {
	case err != nil:
		return unknown(e, err)
	case c == nil:
		return Answer{Outcome: NotApplicable, Eviction: e}
	}
	e.Cluster.Name = c.Name
	if e.DryRun {
		checks, err := h.Decider.Decide(ctx, e, NoEpoch)
		return answerOf(e, checks, err)
	}
	return h.decide(ctx, e, c.UID)
}

// decide judges while no other eviction of the cluster is judged or under way.
func (h *Hook) decide(ctx context.Context, e Eviction, owner types.UID) Answer {
	s, err := h.slots.take(ctx, h, e, owner)
	if err != nil {
		return notTaken(e, err)
	}
	checks, err := h.Decider.Decide(ctx, e, s.epoch)
	h.slots.served(e)
	answer := answerOf(e, checks, err)
	if answer.Outcome != Allowed {
		s.release(ctx)
	} else if err := s.keep(ctx); err != nil {
		answer = unknown(e, err)
	}
	if answer.Outcome == Denied && h.Actor != nil {
		if answer.Acts = h.Actor.start(ctx, e, answer.Refused); answer.Acts {
			answer.Message += "; the eviction webhook works on it"
		}
	}
	return answer
}

// notTaken is the answer where another eviction is under way, or where that is unknown.
func notTaken(e Eviction, err error) Answer {
	if _, busy := errors.AsType[*busyError](err); busy {
		return Answer{Outcome: Busy, Eviction: e, Message: describe(e) + " is not reviewed yet: " + err.Error()}
	}
	return unknown(e, err)
}

func answerOf(e Eviction, checks []plan.Check, err error) Answer {
	refused := refusedOf(checks)
	switch {
	case err != nil:
		return unknown(e, err)
	case len(checks) == 0:
		return unknown(e, errors.New("no eviction rule covers the pod"))
	case len(refused) > 0:
		return Answer{Outcome: Denied, Eviction: e, Refused: refused, Message: describe(e) + " must not be evicted now: " + evidenceOf(refused)}
	default:
		return Answer{Outcome: Allowed, Eviction: e}
	}
}

func unknown(e Eviction, err error) Answer {
	return Answer{Outcome: Unknown, Eviction: e, Message: "cannot determine whether " + describe(e) + " may be evicted: " + err.Error()}
}

func describe(e Eviction) string {
	if e.Cluster.Name == "" {
		return "pod " + e.Pod
	}
	return fmt.Sprintf("pod %s of FoundationDBCluster %s", e.Pod, e.Cluster.Name)
}

// runs reports whether an eviction would stop anything: Kubernetes itself exempts the same pods
// from disruption budgets.
func runs(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodPending && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func (h *Hook) isOwn(pod *corev1.Pod) bool {
	return pod.Namespace == h.Self.Namespace && len(h.Self.Labels) > 0 &&
		labels.SelectorFromSet(maps.Clone(h.Self.Labels)).Matches(labels.Set(pod.Labels))
}

// Acts runs an Actor in the background, once at a time for each cluster: the API server waits for
// an answer for seconds, and a replacement takes minutes.
type Acts struct {
	actor  Actor
	clock  clock.PassiveClock
	report func(Eviction, error)
	ending chan struct{} // closed once nothing may begin any more

	mu      sync.Mutex
	running map[types.NamespacedName]bool
	ended   map[types.NamespacedName]time.Time
	wait    sync.WaitGroup
}

// actPause is the least time between two runs for one cluster: whoever drains tries again after
// 5 s, for every pod.
const actPause = 10 * time.Second

// NewActs returns Acts that run until Stop. Report receives every end; nil reports nothing.
func NewActs(actor Actor, c clock.PassiveClock, report func(Eviction, error)) *Acts {
	return &Acts{actor: actor, clock: c, report: report, ending: make(chan struct{}), running: map[types.NamespacedName]bool{}, ended: map[types.NamespacedName]time.Time{}}
}

// start acts for an eviction, unless an earlier run for the cluster is under way or has just ended.
// It reports whether a run is under way. The run outlives ctx, that of the request.
func (a *Acts) start(ctx context.Context, e Eviction, refused []plan.Check) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch ended, before := a.ended[e.Cluster]; {
	case a.ends():
		return false
	case a.running[e.Cluster]:
		return true
	case before && a.clock.Since(ended) < actPause:
		return true // the next request goes on with it
	}
	a.running[e.Cluster] = true
	a.wait.Add(1)
	go a.run(context.WithoutCancel(ctx), e, slices.Clone(refused))
	return true
}

func (a *Acts) ends() bool {
	select {
	case <-a.ending:
		return true
	default:
		return false
	}
}

func (a *Acts) run(ctx context.Context, e Eviction, refused []plan.Check) {
	defer a.wait.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := a.actor.Act(ctx, e, refused)
	a.mu.Lock()
	delete(a.running, e.Cluster)
	a.ended[e.Cluster] = a.clock.Now()
	a.mu.Unlock()
	if a.report != nil {
		a.report(e, err)
	}
}

// Stop ends what runs, and returns once it has ended.
func (a *Acts) Stop() {
	a.mu.Lock()
	if !a.ends() {
		close(a.ending)
	}
	a.mu.Unlock()
	a.wait.Wait()
}

// Eviction is the requested eviction of a pod that belongs to a cluster.
type Eviction struct {
	// Cluster names the FoundationDBCluster.
	Cluster types.NamespacedName
	// Pod and UID identify the pod; Node is where it runs.
	Pod  string
	UID  types.UID
	Node string
	// User requested the eviction, as the API server authenticated it.
	User string
	// DryRun is true when nothing may be changed because of the request.
	DryRun bool
}

// Epoch numbers the evictions that were allowed of a cluster. Facts that were observed in one epoch
// do not show the eviction that began the next one, so they must not be used in it.
type Epoch int64

// NoEpoch is that of a question whose facts must not be reused at all.
const NoEpoch Epoch = -1

// Decider knows the eviction rules and the state of clusters.
type Decider interface {
	// Decide returns the evaluated questions; the eviction is allowed if there is at least one
	// and all of them hold. An error means that the answer is unknown, which denies. Facts of the
	// same epoch may be reused for a few seconds. Decide changes nothing.
	Decide(ctx context.Context, e Eviction, epoch Epoch) ([]plan.Check, error)
}

// Actor makes a denied eviction possible: it has the process group replaced, or coordinators moved.
type Actor interface {
	// Act does what may be done now, under the same locks and checks as any other run, and
	// returns. It is called again for as long as the eviction is requested and denied. When ctx
	// ends it finishes what must not be cut and returns.
	Act(ctx context.Context, e Eviction, refused []plan.Check) error
}

// Outcome is how a request was answered.
type Outcome string

// The outcomes of requests.
const (
	// Allowed: the eviction rules allow it.
	Allowed Outcome = "allowed"
	// Denied: a rule does not allow it now.
	Denied Outcome = "denied"
	// Busy: another eviction of the cluster is being decided, or not over yet.
	Busy Outcome = "busy"
	// Unknown: the answer could not be determined, which denies.
	Unknown Outcome = "unknown"
	// NotApplicable: the pod is none of a cluster, does not run, or is one of this webhook.
	NotApplicable Outcome = "not-judged"
	// Invalid: the request is malformed.
	Invalid Outcome = "invalid"
)

// Outcomes are all outcomes, in the order of documentation.
func Outcomes() []Outcome { return []Outcome{Allowed, Denied, Busy, Unknown, NotApplicable, Invalid} }
