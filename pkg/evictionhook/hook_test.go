package evictionhook

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAnEvictionThatPassesAllChecksIsAllowed(t *testing.T) {
	g := newGiven(t)
	r := g.review(request("sample-storage-1"))
	if !r.Allowed || r.UID != "review-1" || g.last().Outcome != Allowed {
		t.Errorf("%+v, %+v", r, g.last())
	}
	want := Eviction{Cluster: client.ObjectKey{Namespace: "fdb", Name: "sample"}, Pod: "sample-storage-1", UID: "uid-of-storage-1", Node: "node-1", User: "ann"}
	if got := g.decider.requested; len(got) != 1 || got[0] != want {
		t.Errorf("asked about %+v, want %+v", got, want)
	}
}

// Clients of the eviction API try again after 429, and give up after any other status.
func TestADeniedEvictionReturnsTooManyRequests(t *testing.T) {
	g := newGiven(t)
	other := plan.Check{ID: plan.CheckStatusRecent, Question: "?", Evidence: "the status document is 2m0s old"}
	g.decider.decide = says(holds, refuses, other)
	r := g.review(request("sample-storage-1"))
	if r.Allowed || r.Result.Code != http.StatusTooManyRequests || r.Result.Reason != metav1.StatusReasonTooManyRequests || r.Result.Status != metav1.StatusFailure {
		t.Fatalf("%+v", r)
	}
	const want = "pod sample-storage-1 of FoundationDBCluster sample must not be evicted now: storage-2 has no pod; the status document is 2m0s old"
	if r.Result.Message != want {
		t.Errorf("message %q, want %q", r.Result.Message, want)
	}
	if r.Result.Details.RetryAfterSeconds != 0 {
		t.Error("clients would wait without a word")
	}
	if causes := r.Result.Details.Causes; len(causes) != 2 || causes[0].Type != "kubectl-fdb/other-domains-up" || causes[0].Field != "storage-1" || causes[1].Type != "kubectl-fdb/status-recent" {
		t.Errorf("causes %+v", causes)
	}
}

func TestTheEvictionWebhookDeniesIfFactsAreUnknown(t *testing.T) {
	for name, given := range map[string]func(*given){
		"the rules cannot be evaluated": func(g *given) {
			g.decider.decide = func(context.Context, Eviction, Epoch) ([]plan.Check, error) { return nil, errors.New("timed out") }
		},
		"the rules are met, with an error": func(g *given) {
			g.decider.decide = func(context.Context, Eviction, Epoch) ([]plan.Check, error) {
				return []plan.Check{holds}, errors.New("timed out")
			}
		},
		"no rule":                         func(g *given) { g.decider.decide = says() },
		"the pod cannot be read":          func(g *given) { g.refuse = errorsOf("get", isPod) },
		"the Lease cannot be read":        func(g *given) { g.refuse = errorsOf("get", isLease) },
		"the Lease cannot be made":        func(g *given) { g.refuse = errorsOf("create", isLease) },
		"the eviction cannot be recorded": func(g *given) { g.refuse = errorsOf("update", isLease) },
		"the owner does not exist": func(g *given) {
			if err := g.api.Delete(g.t.Context(), cluster("sample")); err != nil {
				g.t.Fatal(err)
			}
		},
		"the owner was recreated": func(g *given) {
			if err := errors.Join(g.api.Delete(g.t.Context(), cluster("sample")), g.api.Create(g.t.Context(), &v1beta2.FoundationDBCluster{
				ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "sample", UID: "new"},
			})); err != nil {
				g.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			given(g)
			r := g.review(request("sample-storage-1"))
			if r.Allowed || r.Result.Code != http.StatusTooManyRequests || g.last().Outcome != Unknown || !strings.HasPrefix(r.Result.Message, "cannot determine") {
				t.Errorf("%+v, %+v", r.Result, g.last())
			}
		})
	}
}

// errorsOf lets requests of one verb for one kind of object fail.
func errorsOf(verb string, is func(client.Object) bool) func(string, client.Object) error {
	return func(v string, o client.Object) error {
		if v == verb && is(o) {
			return errors.New("no connection")
		}
		return nil
	}
}

func isPod(o client.Object) bool { _, is := o.(*corev1.Pod); return is }

func isLease(o client.Object) bool { _, is := o.(*coordinationv1.Lease); return is }

func TestTheEvictionWebhookAllowsForeignAndNonRunningPods(t *testing.T) {
	owned := func(kind, api string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: api, Kind: kind, Name: "x", UID: "x", Controller: new(true)}}
			p.Labels = map[string]string{"app": "web"}
		}
	}
	for name, edit := range map[string]func(*corev1.Pod){
		"a pod of nothing":              func(p *corev1.Pod) { p.OwnerReferences, p.Labels = nil, nil },
		"a pod of a Deployment":         owned("ReplicaSet", "apps/v1"),
		"a pod of another kind's owner": owned("FoundationDBCluster", "example.com/v1"),
		"a pod with the label of a cluster and none of a group": func(p *corev1.Pod) {
			p.OwnerReferences = nil
			delete(p.Labels, v1beta2.LabelProcessGroupID)
		},
		"a pending pod":     func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending },
		"a pod that failed": func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"a pod that ended":  func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
		"a terminating pod": func(p *corev1.Pod) {
			p.DeletionTimestamp, p.Finalizers = new(metav1.NewTime(noon)), []string{"example.com/wait"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t, pod("other", edit))
			g.decider.decide = says(refuses)
			if r := g.review(request("sample-other")); !r.Allowed || g.last().Outcome != NotApplicable || len(g.writes()) > 0 {
				t.Errorf("%+v, %+v, wrote %v", r, g.last(), g.writes())
			}
		})
	}
	g := newGiven(t)
	if r := g.review(request("not-found")); !r.Allowed {
		t.Errorf("a pod that does not exist: %+v", r)
	}
}

// A webhook that keeps its own pods would keep every drain of their nodes.
func TestTheEvictionWebhookAlwaysAllowsItsOwnPods(t *testing.T) {
	own := pod("own", func(p *corev1.Pod) {
		p.Namespace = "webhook"
		p.Labels["app.kubernetes.io/name"] = "eviction-webhook"
	})
	foreign := pod("foreign", func(p *corev1.Pod) { p.Labels["app.kubernetes.io/name"] = "eviction-webhook" })
	g := newGiven(t, own, foreign)
	g.decider.decide = says(refuses)
	in := func(namespace string) func(*admissionv1.AdmissionRequest) {
		return func(r *admissionv1.AdmissionRequest) { r.Namespace = namespace }
	}
	if r := g.review(request("sample-own", in("webhook"))); !r.Allowed || len(g.decider.requested) > 0 {
		t.Errorf("%+v", r)
	}
	if r := g.review(request("sample-foreign")); r.Allowed {
		t.Error("a pod of a cluster goes for a label of its own")
	}
	g.hook.Self = Self{Namespace: "fdb"}
	if r := g.review(request("sample-storage-1")); r.Allowed {
		t.Error("without labels every pod is the webhook's own")
	}
}

func TestTheEvictionWebhookFindsAClusterByItsCustomLabels(t *testing.T) {
	labeled := func(name string) *v1beta2.FoundationDBCluster {
		c := cluster(name)
		c.Spec.Labels = v1beta2.LabelConfig{MatchLabels: map[string]string{"app": "fdb"}, ProcessGroupIDLabels: []string{"group"}}
		return c
	}
	orphan := pod("orphan", func(p *corev1.Pod) {
		p.OwnerReferences, p.Labels = nil, map[string]string{"app": "fdb", "group": "storage-7"}
	})
	g := newGiven(t, labeled("labeled"), orphan)
	g.review(request("sample-orphan"))
	if got := g.last(); got.Outcome != Allowed || got.Eviction.Cluster.Name != "labeled" {
		t.Errorf("%+v", got)
	}
	g = newGiven(t, labeled("one"), labeled("two"), orphan)
	if r := g.review(request("sample-orphan")); r.Allowed || g.last().Outcome != Unknown {
		t.Errorf("of two clusters: %+v", g.last())
	}
}

func TestADryRunEvictionChangesNothing(t *testing.T) {
	for name, edit := range map[string]func(*admissionv1.AdmissionRequest){
		"of the request": func(r *admissionv1.AdmissionRequest) { r.DryRun = new(true) },
		"of the deletion": func(r *admissionv1.AdmissionRequest) {
			r.Object.Raw = []byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"sample-storage-1"},"deleteOptions":{"dryRun":["All"]}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			actor := &counting{}
			g.hook.Actor = NewActs(actor, g.clock, nil)
			defer g.hook.Actor.Stop()
			if r := g.review(request("sample-storage-1", edit)); !r.Allowed {
				t.Errorf("%+v", r)
			}
			g.decider.decide = says(refuses)
			if r := g.review(request("sample-storage-1", edit)); r.Allowed || g.last().Acts {
				t.Errorf("%+v, %+v", r, g.last())
			}
			if len(g.writes()) > 0 || actor.count() > 0 || !g.decider.requested[0].DryRun || g.decider.epochs[0] != NoEpoch {
				t.Errorf("wrote %v, acted %d times, asked %+v", g.writes(), actor.count(), g.decider.requested)
			}
		})
	}
}

func TestTheEvictionWebhookAllowsOtherRequestsWithAWarning(t *testing.T) {
	for name, edit := range map[string]func(*admissionv1.AdmissionRequest){
		"a deletion":          func(r *admissionv1.AdmissionRequest) { r.Operation, r.SubResource = admissionv1.Delete, "" },
		"another subresource": func(r *admissionv1.AdmissionRequest) { r.SubResource = "exec" },
		"another resource":    func(r *admissionv1.AdmissionRequest) { r.Resource.Resource = "services" },
		"another group":       func(r *admissionv1.AdmissionRequest) { r.Resource.Group = "example.com" },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			g.decider.decide = says(refuses)
			if r := g.review(request("sample-storage-1", edit)); !r.Allowed || len(r.Warnings) != 1 || len(g.decider.requested) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestAMalformedEvictionIsDenied(t *testing.T) {
	for name, edit := range map[string]func(*admissionv1.AdmissionRequest){
		"no name":      func(r *admissionv1.AdmissionRequest) { r.Name, r.Object.Raw = "", nil },
		"no namespace": func(r *admissionv1.AdmissionRequest) { r.Namespace = "" },
		"no JSON":      func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte("{") },
		"no Eviction":  func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"deleteOptions":3}`) },
		"nothing":      func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil },
		"a pod": func(r *admissionv1.AdmissionRequest) {
			r.Object.Raw = []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"sample-storage-1"}}`)
		},
		"an eviction of another pod": func(r *admissionv1.AdmissionRequest) {
			r.Object.Raw = []byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"sample-storage-2"}}`)
		},
		"an eviction in another namespace": func(r *admissionv1.AdmissionRequest) {
			r.Object.Raw = []byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"sample-storage-1","namespace":"other"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			if r := g.review(request("sample-storage-1", edit)); r.Allowed || g.last().Outcome != Invalid {
				t.Errorf("%+v", r)
			}
		})
	}
	g := newGiven(t)
	if r := g.review(request("sample-storage-1", func(r *admissionv1.AdmissionRequest) { r.Name = "" })); !r.Allowed {
		t.Errorf("the name in the body: %+v", r)
	}
}

// The API server refuses an eviction whose UID is not that of the pod: nothing is decided for it.
func TestAnEvictionOfAPodThatIsNotThereHoldsNoSlot(t *testing.T) {
	g := newGiven(t)
	r := g.review(request("sample-storage-1", func(r *admissionv1.AdmissionRequest) {
		r.Object.Raw = []byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"sample-storage-1"},"deleteOptions":{"preconditions":{"uid":"another"}}}`)
	}))
	if !r.Allowed || g.last().Outcome != NotApplicable || len(g.writes()) > 0 || len(g.decider.requested) > 0 {
		t.Errorf("%+v: %v", r, g.writes())
	}
}

// counting is an Actor that runs until it is ended.
type counting struct {
	mu      sync.Mutex
	acted   []Eviction
	refused [][]plan.Check
	began   chan struct{} // receives when an act begins; nil never
	goOn    chan struct{} // an act ends when it receives or ctx ends; nil ends at once
	ended   []error
}

func (c *counting) Act(ctx context.Context, e Eviction, refused []plan.Check) error {
	c.mu.Lock()
	c.acted, c.refused = append(c.acted, e), append(c.refused, refused)
	c.mu.Unlock()
	if c.began != nil {
		c.began <- struct{}{}
	}
	if c.goOn != nil {
		select {
		case <-c.goOn:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, ctx.Err())
	return ctx.Err()
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acted)
}

func TestTheEvictionWebhookActsOnOneDeniedEvictionAtATime(t *testing.T) {
	g := newGiven(t)
	g.decider.decide = says(refuses)
	actor := &counting{began: make(chan struct{}, 9), goOn: make(chan struct{})}
	ended := make(chan Eviction, 9)
	g.hook.Actor = NewActs(actor, g.clock, func(e Eviction, _ error) { ended <- e })
	defer g.hook.Actor.Stop()
	ask := func(pod string) {
		t.Helper()
		if r := g.review(request(pod)); r.Allowed || !g.last().Acts || !strings.HasSuffix(r.Result.Message, "; the eviction webhook works on it") {
			t.Errorf("%+v, %+v", r.Result, g.last())
		}
	}
	ask("sample-storage-1")
	<-actor.began
	ask("sample-storage-1")
	ask("sample-storage-2")
	if actor.count() != 1 {
		t.Errorf("acts %d times at once", actor.count())
	}
	actor.goOn <- struct{}{}
	if e := <-ended; e.Pod != "sample-storage-1" || e.Cluster.Name != "sample" || actor.refused[0][0].ID != refuses.ID {
		t.Errorf("acted for %+v, %+v", e, actor.refused)
	}
	ask("sample-storage-2") // right after the end
	if actor.count() != 1 {
		t.Error("acts without a pause")
	}
	g.clock.Step(actPause)
	ask("sample-storage-2")
	<-actor.began
	if actor.count() != 2 {
		t.Error("does not go on")
	}
	actor.goOn <- struct{}{}
	<-ended
}

func TestTheEvictionWebhookActsOnlyOnDenials(t *testing.T) {
	g := newGiven(t)
	actor := &counting{}
	g.hook.Actor = NewActs(actor, g.clock, nil)
	g.review(request("sample-storage-1")) // allowed
	g.review(request("sample-storage-2")) // busy
	g.decider.decide = says()
	g.review(request("sample-storage-1")) // unknown
	g.hook.Actor.Stop()
	if actor.count() != 0 {
		t.Errorf("acted for %+v", actor.acted)
	}
	g.decider.decide = says(refuses)
	if g.review(request("sample-storage-1")); g.last().Acts || actor.count() != 0 {
		t.Error("acts after its end")
	}
}

func TestWebhookActionsContinueAfterTheRequestAndEndOnStop(t *testing.T) {
	g := newGiven(t)
	g.decider.decide = says(refuses)
	actor := &counting{began: make(chan struct{}, 1), goOn: make(chan struct{})}
	g.hook.Actor = NewActs(actor, g.clock, nil)
	ctx, cancel := context.WithCancel(t.Context())
	g.hook.Review(ctx, request("sample-storage-1"))
	<-actor.began
	cancel() // the request is over, and the act is not
	if len(actor.ended) > 0 {
		t.Error("an act ends with the request that began it")
	}
	g.hook.Actor.Stop()
	g.hook.Actor.Stop() // twice is once
	if len(actor.ended) != 1 || actor.ended[0] == nil {
		t.Errorf("ended with %v", actor.ended)
	}
}
