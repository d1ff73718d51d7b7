package evictionhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// given is a webhook before an API server with the cluster sample and some of its pods.
type given struct {
	t       *testing.T
	api     client.WithWatch // without what a test refuses
	hook    *Hook
	clock   *clocktesting.FakeClock
	decider *scripted

	mu       sync.Mutex
	answers  []Answer
	requests []string
	refuse   func(verb string, o client.Object) error
}

// scripted is a Decider that answers what a test wants.
type scripted struct {
	mu        sync.Mutex
	decide    func(context.Context, Eviction, Epoch) ([]plan.Check, error)
	requested []Eviction
	epochs    []Epoch
}

func (s *scripted) Decide(ctx context.Context, e Eviction, epoch Epoch) ([]plan.Check, error) {
	s.mu.Lock()
	s.requested, s.epochs = append(s.requested, e), append(s.epochs, epoch)
	decide := s.decide
	s.mu.Unlock()
	return decide(ctx, e, epoch)
}

var (
	holds   = plan.Check{ID: plan.CheckAvailable, Question: "is the database available?", OK: true, Evidence: "the database is available"}
	refuses = plan.Check{ID: plan.CheckOtherDomainsUp, Subject: "storage-1", Question: "are all other fault domains up?", Evidence: "storage-2 has no pod"}
)

func says(checks ...plan.Check) func(context.Context, Eviction, Epoch) ([]plan.Check, error) {
	return func(context.Context, Eviction, Epoch) ([]plan.Check, error) { return checks, nil }
}

func newGiven(t *testing.T, objects ...client.Object) *given {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, coordinationv1.AddToScheme, v1beta2.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	all := append([]client.Object{cluster("sample"), pod("storage-1"), pod("storage-2")}, objects...)
	g := &given{t: t, clock: clocktesting.NewFakeClock(noon), decider: &scripted{decide: says(holds)}}
	g.api = fake.NewClientBuilder().WithScheme(s).WithObjects(all...).Build()
	g.hook = g.replica("replica-1")
	return g
}

// replica is another process of the same webhook.
func (g *given) replica(identity string) *Hook {
	return &Hook{
		Client: g.counted(), Decider: g.decider, Clock: g.clock, Identity: identity,
		Self: Self{Namespace: "webhook", Labels: map[string]string{"app.kubernetes.io/name": "eviction-webhook"}},
		Report: func(a Answer) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.answers = append(g.answers, a)
		},
	}
}

func (g *given) counted() client.Client {
	note := func(verb string, o client.Object) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.requests = append(g.requests, fmt.Sprintf("%s %T %s", verb, o, o.GetName()))
		if g.refuse == nil {
			return nil
		}
		return g.refuse(verb, o)
	}
	return interceptor.NewClient(g.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := note("get", o); err != nil {
				return err
			}
			return c.Get(ctx, k, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := note("create", o); err != nil {
				return err
			}
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := note("update", o); err != nil {
				return err
			}
			return c.Update(ctx, o, opts...)
		},
	})
}

// writes are the requests that changed something.
func (g *given) writes() (writes []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.requests {
		if !strings.HasPrefix(r, "get ") {
			writes = append(writes, r)
		}
	}
	return writes
}

func cluster(name string) *v1beta2.FoundationDBCluster {
	return &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name, UID: types.UID("uid-of-" + name)}}
}

// pod is a running pod of the cluster sample.
func pod(id string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fdb", Name: "sample-" + id, UID: types.UID("uid-of-" + id),
			Labels: map[string]string{v1beta2.LabelClusterName: "sample", v1beta2.LabelProcessGroupID: id, v1beta2.LabelProcessClass: "storage"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBCluster", Name: "sample", UID: "uid-of-sample", Controller: new(true),
			}},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// request asks for the eviction of a pod.
func request(name string, edits ...func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
	r := &admissionv1.AdmissionRequest{
		UID: "review-1", Operation: admissionv1.Create, Namespace: "fdb", Name: name, SubResource: "eviction",
		Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
		Object:   runtime.RawExtension{Raw: []byte(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"` + name + `"}}`)},
	}
	r.UserInfo.Username = "ann"
	for _, edit := range edits {
		edit(r)
	}
	return r
}

func (g *given) review(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	g.t.Helper()
	return g.hook.Review(g.t.Context(), r)
}

// last is the outcome that was reported last.
func (g *given) last() Answer {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.answers) == 0 {
		g.t.Fatal("nothing was reported")
	}
	return g.answers[len(g.answers)-1]
}

// post sends a body to a server and returns the status and the text of its answer.
func post(t *testing.T, server *httptest.Server, path, contentType, body string) (code int, text string) {
	t.Helper()
	answer, err := server.Client().Post(server.URL+path, contentType, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

func reviewOf(t *testing.T, r *admissionv1.AdmissionRequest) string {
	t.Helper()
	text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: r})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func served(t *testing.T, h *Hook) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h.Handler())
	server.Client().Transport.(*http.Transport).DisableKeepAlives = true
	t.Cleanup(server.Close)
	return server
}

// blocking is a client whose reads of pods wait.
type blocking struct {
	client.Client
	began, goOn chan struct{}
}

func (b blocking) Get(ctx context.Context, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if isPod(o) {
		b.began <- struct{}{}
		<-b.goOn
	}
	return b.Client.Get(ctx, k, o, opts...)
}
