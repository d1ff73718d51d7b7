package evictionhook

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAdmissionReviewResponsesCarryTheRequestUID(t *testing.T) {
	g := newGiven(t)
	server := served(t, g.hook)
	for want, checks := range map[bool]plan.Check{true: holds, false: refuses} {
		g.decider.decide = says(checks)
		code, text := post(t, server, Path+"?timeout=10s", "application/json; charset=utf-8", reviewOf(t, request("sample-storage-1")))
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal([]byte(text), &review); err != nil || code != http.StatusOK {
			t.Fatalf("%d %s: %v", code, text, err)
		}
		if r := review.Response; review.APIVersion != "admission.k8s.io/v1" || review.Kind != "AdmissionReview" || review.Request != nil || r.UID != "review-1" || r.Allowed != want {
			t.Errorf("%s", text)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		path, contentType, body string
		want                    int
		says                    string
	}{
		"another content type":    {Path, "text/plain", "{}", http.StatusUnsupportedMediaType, "application/json required"},
		"no content type":         {Path, "", "{}", http.StatusUnsupportedMediaType, "application/json required"},
		"nothing":                 {Path, "application/json", "", http.StatusBadRequest, "parse AdmissionReview"},
		"no JSON":                 {Path, "application/json", "{", http.StatusBadRequest, "parse AdmissionReview"},
		"a list":                  {Path, "application/json", "[]", http.StatusBadRequest, "parse AdmissionReview"},
		"another kind":            {Path, "application/json", `{"apiVersion":"v1","kind":"Pod"}`, http.StatusBadRequest, "admission.k8s.io/v1 AdmissionReview required"},
		"another version":         {Path, "application/json", `{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}}`, http.StatusBadRequest, "required"},
		"no request":              {Path, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, http.StatusBadRequest, "request is required"},
		"no UID":                  {Path, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`, http.StatusBadRequest, "request.uid is required"},
		"more than any review is": {Path, "application/json", `{"x":"` + strings.Repeat("x", maxBody) + `"}`, http.StatusRequestEntityTooLarge, "larger than 1 MiB"},
		"another path":            {"/", "application/json", "{}", http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			code, text := post(t, served(t, g.hook), tc.path, tc.contentType, tc.body)
			if code != tc.want || !strings.Contains(text, tc.says) {
				t.Errorf("%d %s, want %d with %q", code, text, tc.want, tc.says)
			}
			if len(g.requests) > 0 || len(g.decider.requested) > 0 {
				t.Errorf("asked %v", g.requests)
			}
		})
	}
	g := newGiven(t)
	answer, err := served(t, g.hook).Client().Get(served(t, g.hook).URL + Path)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", answer.StatusCode)
	}
}

func FuzzAReview(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","resource":{"version":"v1","resource":"pods"},"subResource":"eviction","name":"p","namespace":"n","object":{"deleteOptions":{}}}}`))
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","object":null}}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		if r, err := parseReview(body); err == nil {
			_ = isEviction(r)
			_, _ = evictionOf(r)
		}
	})
}

// A late answer is none, and fails a drain that a denial only delays.
func TestTheEvictionWebhookAnswersBeforeTheRequestTimeout(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"": 8 * time.Second, "?timeout=5s": 3 * time.Second, "?timeout=30s": 28 * time.Second, "?timeout=1h": 28 * time.Second,
		"?timeout=1s": 500 * time.Millisecond, "?timeout=-1s": 8 * time.Second, "?timeout=x": 8 * time.Second,
	} {
		if got := timeLeft(httptest.NewRequest(http.MethodPost, Path+query, nil)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	g := newGiven(t)
	g.decider.decide = func(ctx context.Context, _ Eviction, _ Epoch) ([]plan.Check, error) {
		<-ctx.Done() // a database that does not answer
		return nil, ctx.Err()
	}
	began := time.Now()
	code, text := post(t, served(t, g.hook), Path+"?timeout=1s", "application/json", reviewOf(t, request("sample-storage-1")))
	if code != http.StatusOK || !strings.Contains(text, "cannot determine") || time.Since(began) > time.Minute {
		t.Errorf("%d after %s: %s", code, time.Since(began), text)
	}
}

func TestExcessEvictionRequestsAreRefusedImmediately(t *testing.T) {
	g := newGiven(t)
	began, goOn := make(chan struct{}, maxRequests), make(chan struct{})
	g.refuse = nil
	waiting := g.replica("waiting")
	waiting.Client = blocking{waiting.Client, began, goOn}
	server := served(t, waiting)
	var wait sync.WaitGroup
	body := reviewOf(t, request("sample-storage-1"))
	for range maxRequests {
		wait.Go(func() {
			answer, err := http.Post(server.URL+Path, "application/json", strings.NewReader(body))
			if err == nil {
				answer.Body.Close()
			}
		})
	}
	for range maxRequests {
		<-began
	}
	code, text := post(t, server, Path, "application/json", body)
	if code != http.StatusOK || !strings.Contains(text, `"code":429`) || !strings.Contains(text, "reviews 64 other evictions") {
		t.Errorf("%d %s", code, text)
	}
	close(goOn)
	wait.Wait()
	http.DefaultClient.CloseIdleConnections()
}
