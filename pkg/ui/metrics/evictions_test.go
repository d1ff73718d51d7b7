package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEvictionWebhookMetricsCountAnswersAndActions(t *testing.T) {
	var problem, notReady error
	e := NewEvictions([]string{"allowed", "denied"}, func() (time.Time, error) { return noon, problem })
	e.Answered("denied", 300*time.Millisecond)
	e.Refused("fdb", "sample", "drained")
	e.Acted(nil)
	e.Acted(errors.New("no"))
	server := httptest.NewServer(e.Handler(func(context.Context) error { return notReady }))
	defer server.Close()
	lines := func() []string {
		_, text := get(t, server.URL+"/metrics")
		return strings.Split(text, "\n")
	}
	for _, want := range []string{
		`kubectl_fdb_eviction_answers_total{outcome="denied"} 1`, `kubectl_fdb_eviction_answers_total{outcome="allowed"} 0`,
		`kubectl_fdb_eviction_refusals_total{check="drained",fdb_cluster="sample",fdb_namespace="fdb"} 1`,
		`kubectl_fdb_eviction_acts_total{result="done"} 1`, `kubectl_fdb_eviction_acts_total{result="failed"} 1`,
		`kubectl_fdb_eviction_answer_duration_seconds_sum 0.3`, `kubectl_fdb_eviction_certificate_unreadable 0`,
		`kubectl_fdb_eviction_certificate_expiry_timestamp_seconds 1.795176e+09`,
	} {
		if !slices.Contains(lines(), want) {
			t.Errorf("no line %s", want)
		}
	}
	problem = errors.New("no file")
	if !slices.Contains(lines(), `kubectl_fdb_eviction_certificate_unreadable 1`) {
		t.Error("an unreadable certificate is not reported")
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK} {
		if code, text := get(t, server.URL+path); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	notReady = errors.New("no API server")
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		if code, text := get(t, server.URL+path); code != want || want != http.StatusOK && !strings.Contains(text, "no API server") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}
