package metrics

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves /metrics, /healthz (the loop runs) and /readyz (its last pass did not
// fail).
func Handler(m *Metrics, p *Pulse) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		sign, alive := p.alive(m.now())
		answer(w, alive, fmt.Sprintf("no sign of life of the loop since %s", sign.UTC().Format(time.RFC3339)))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, p.ready(), "no pass has ended yet, or the last one failed")
	})
	return mux
}

func answer(w http.ResponseWriter, ok bool, why string) {
	if !ok {
		http.Error(w, why, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
