package metrics

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// Dumps counts the dumps that a watch writes. Its methods may be called concurrently.
type Dumps struct {
	failures   prometheus.Counter
	last, size prometheus.Gauge
}

// Dumps adds the metrics of dumps, for a watch that writes some.
func (m *Metrics) Dumps() *Dumps {
	d := &Dumps{
		failures: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "dump_failures_total", Help: "Dumps that could not be written or limited.", ConstLabels: m.own}),
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "dump_last_written_timestamp_seconds", Help: "When the last dump was written; 0 for none.", ConstLabels: m.own}),
		size:     prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "dump_bytes", Help: "Size of all dumps in the directory.", ConstLabels: m.own}),
	}
	m.registry.MustRegister(d.failures, d.last, d.size)
	return d
}

// Written notes a dump, and the size of all.
func (d *Dumps) Written(at time.Time, bytes int64) {
	d.last.Set(float64(at.Unix()))
	d.size.Set(float64(bytes))
}

// Failed counts a dump that could not be written.
func (d *Dumps) Failed() { d.failures.Inc() }

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

// SilenceLimit is how long the loop may show no sign of life. The longest operation without one
// is an action: 4 minutes.
const SilenceLimit = 10 * time.Minute

// Liveness has the last sign of life of the loop, and whether its last pass failed. It never
// waits for the loop.
type Liveness struct {
	mu       sync.Mutex
	lastBeat time.Time // the last sign of life, or the end of the announced wait
	passed   bool      // the last pass did not fail
}

// Beat is a sign of life.
func (p *Liveness) Beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastBeat = now
}

// Wait announces a wait that ends at a time, after a pass that did not fail.
func (p *Liveness) Wait(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastBeat, p.passed = until, true
}

// RestAfterFailure announces a wait that ends at a time, after a pass that failed.
func (p *Liveness) RestAfterFailure(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastBeat, p.passed = until, false
}

// alive returns the last sign of life, and whether it is recent enough.
func (p *Liveness) alive(now time.Time) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastBeat, now.Sub(p.lastBeat) <= SilenceLimit
}

func (p *Liveness) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}

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

// The limits of the server. Slow clients must not slow down the loop.
const (
	headerTimeout   = 5 * time.Second
	requestTimeout  = 10 * time.Second
	idleTimeout     = time.Minute
	shutdownTimeout = 2 * time.Second
)

// Serve answers at an address, such as ":8080" or "127.0.0.1:0", until stop is called.
// It returns the address that was taken.
func Serve(ctx context.Context, address string, h http.Handler) (taken net.Addr, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for metrics: %w", err)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: idleTimeout,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // always ends with an error; stop is the only way to end it
	}()
	return listener.Addr(), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // connections that did not end in time are cut
		}
		<-ended
	}, nil
}

// Watch is what a watch counts, and whether it is alive.
type Watch struct {
	*Metrics
	*Liveness
}

// NewWatch makes the metrics of a watch over the cluster of that name and namespace. Now returns the time.
func NewWatch(cluster, clusterNamespace string, now func() time.Time) Watch {
	return Watch{New(cluster, clusterNamespace, now), &Liveness{}}
}

// CountDumps adds the metrics of dumps, and returns what notes one that was written, with the size of all, and one that
// could not be.
func (w Watch) CountDumps() (written func(at time.Time, bytes int64), failed func()) {
	d := w.Dumps()
	return d.Written, d.Failed
}

// Serve answers /metrics, /healthz and /readyz at an address until stop is called. It returns the address that was taken.
func (w Watch) Serve(ctx context.Context, address string) (taken string, stop func(), err error) {
	listening, stop, err := Serve(ctx, address, Handler(w.Metrics, w.Liveness))
	if err != nil {
		return "", nil, err
	}
	return listening.String(), stop, nil
}
