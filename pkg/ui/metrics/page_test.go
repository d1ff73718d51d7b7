package metrics

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestAnExporterIsUnhealthyOnlyOnceItsReadsStop(t *testing.T) {
	now := noon
	const interval = time.Hour
	p := NewPage(func() time.Time { return now }, interval)
	server := httptest.NewServer(p.Handler())
	defer server.Close()
	for _, step := range []struct {
		do              func()
		healthz, readyz int
	}{
		{func() {}, http.StatusOK, http.StatusServiceUnavailable},
		{func() { p.Set(NewObserved("sample", "fdb", p.now)) }, http.StatusOK, http.StatusOK},
		{func() { now = now.Add(interval + SilenceLimit) }, http.StatusOK, http.StatusOK},
		{func() { p.Fail("forbidden") }, http.StatusOK, http.StatusServiceUnavailable},
		{func() { now = now.Add(interval + SilenceLimit + time.Second) }, http.StatusServiceUnavailable, http.StatusServiceUnavailable},
	} {
		step.do()
		healthz, _ := get(t, server.URL+"/healthz")
		readyz, _ := get(t, server.URL+"/readyz")
		if healthz != step.healthz || readyz != step.readyz {
			t.Errorf("%s: /healthz %d, want %d; /readyz %d, want %d", now, healthz, step.healthz, readyz, step.readyz)
		}
	}
}
