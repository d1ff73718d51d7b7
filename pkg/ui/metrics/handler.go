package metrics

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"
)

// Handler answers /metrics, /healthz (the loop turns) and /readyz (its last pass did
// not fail).
func Handler(m *Metrics, p *Pulse) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", m.serve)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		sign, alive := p.alive(m.now())
		answer(w, alive, fmt.Sprintf("the loop has not turned since %s", sign.UTC().Format(time.RFC3339)))
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

// serve writes the text format, which every version of Prometheus reads. The library's
// own handler also speaks two more formats and compresses, which costs 0.3 MB.
func (m *Metrics) serve(w http.ResponseWriter, _ *http.Request) {
	families, err := m.registry.Gather()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	_, _ = w.Write(text.Bytes()) // a reader that went away has nobody to tell
}
