package metrics

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves /metrics, /healthz (the loop runs) and /readyz (its last pass did not
// fail).
func Handler(m *Metrics, p *Liveness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		lastBeat, alive := p.alive(m.now())
		if !alive {
			refuse(w, fmt.Sprintf("the reconcile loop has not reported since %s", lastBeat.UTC().Format(time.RFC3339)))
			return
		}
		answerOK(w)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !p.ready() {
			refuse(w, "no pass has ended yet, or the last one failed")
			return
		}
		answerOK(w)
	})
	return mux
}

func answerOK(w http.ResponseWriter) { fmt.Fprintln(w, "ok") }

func refuse(w http.ResponseWriter, why string) { http.Error(w, why, http.StatusServiceUnavailable) }
