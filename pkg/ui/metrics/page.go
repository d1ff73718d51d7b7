package metrics

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// NewObserved makes the metrics of a cluster over which no pass runs here: those of passes are absent.
// Report takes what was observed.
func NewObserved(cluster, clusterNamespace string, now func() time.Time) *Metrics {
	m := unregistered(cluster, clusterNamespace, now)
	m.registry.MustRegister(m.conditions, m.generation, m.reconciled, m.processGroups)
	return m
}

// WriteText writes all metrics in the text format of Prometheus.
func (m *Metrics) WriteText(to io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	encoder := expfmt.NewEncoder(to, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}

// Page serves the metrics that were read last. It may be used concurrently.
type Page struct {
	now      func() time.Time
	interval time.Duration

	mu     sync.Mutex
	read   *Metrics // nil while they are unknown
	why    string   // why they are unknown
	beaten time.Time
}

// NewPage returns a page without metrics, which are read at intervals. Now returns the time.
func NewPage(now func() time.Time, interval time.Duration) *Page {
	return &Page{now: now, interval: interval, why: "the cluster was not read yet", beaten: now()}
}

// Set replaces the metrics.
func (p *Page) Set(m *Metrics) { p.set(m, "") }

// Fail removes the metrics, as old values would be taken for current ones.
func (p *Page) Fail(why string) { p.set(nil, why) }

func (p *Page) set(m *Metrics, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read, p.why, p.beaten = m, why, p.now()
}

// last returns the metrics or why there are none, and when either was set.
func (p *Page) last() (m *Metrics, why string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read, p.why, p.beaten
}

// Handler serves /metrics, /readyz (the last read did not fail) and /healthz (reads continue).
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		m, why, _ := p.last()
		if m == nil {
			refuse(w, why)
			return
		}
		promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if m, why, _ := p.last(); m == nil {
			refuse(w, why)
			return
		}
		answerOK(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if _, _, at := p.last(); p.now().Sub(at) > p.interval+SilenceLimit {
			refuse(w, "the cluster was read last at "+at.UTC().Format(time.RFC3339))
			return
		}
		answerOK(w)
	})
	return mux
}
