package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Evictions counts the answers of the eviction webhook. Its methods may be called concurrently.
type Evictions struct {
	registry *prometheus.Registry

	answers, refusals, acts *prometheus.CounterVec
	seconds                 prometheus.Histogram
}

// NewEvictions makes the metrics of an eviction webhook. Outcomes are all that an answer may have;
// expiry returns when the certificate ends and why it could not be read again.
func NewEvictions(outcomes []string, expiry func() (time.Time, error)) *Evictions {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	e := &Evictions{
		registry: prometheus.NewRegistry(),
		answers:  counter("eviction_answers_total", "Answers to requests for evictions, by outcome.", "outcome"),
		refusals: counter("eviction_refusals_total", "Denied evictions, by cluster and by the ID of each check that does not hold.", "fdb_namespace", "fdb_cluster", "check"),
		acts:     counter("eviction_acts_total", "Runs that were started for denied evictions, by result.", "result"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "eviction_answer_duration_seconds", Help: "Duration of answers.", Buckets: []float64{.05, .1, .5, 1, 2, 5, 10, 30},
		}),
	}
	ends := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "eviction_certificate_expiry_timestamp_seconds", Help: "When the certificate of the webhook ends.",
	}, func() float64 { end, _ := expiry(); return float64(end.Unix()) })
	stale := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "eviction_certificate_unreadable", Help: "1 while the files of the certificate cannot be used, and an earlier one is served.",
	}, func() float64 {
		if _, problem := expiry(); problem != nil {
			return 1
		}
		return 0
	})
	e.registry.MustRegister(e.answers, e.refusals, e.acts, e.seconds, ends, stale)
	for _, outcome := range outcomes {
		e.answers.WithLabelValues(outcome) // a rate needs a zero to start from
	}
	return e
}

// Answered counts an answer, and how long it took.
func (e *Evictions) Answered(outcome string, took time.Duration) {
	e.answers.WithLabelValues(outcome).Inc()
	e.seconds.Observe(took.Seconds())
}

// Refused counts a check that denied an eviction of a cluster.
func (e *Evictions) Refused(clusterNamespace, cluster, check string) {
	e.refusals.WithLabelValues(clusterNamespace, cluster, check).Inc()
}

// Acted counts a run for a denied eviction.
func (e *Evictions) Acted(err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	e.acts.WithLabelValues(result).Inc()
}

// Handler serves /metrics, /healthz (the process answers) and /readyz (evictions can be judged).
func (e *Evictions) Handler(ready func(context.Context) error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r.Context()); err != nil {
			refuse(w, err.Error())
			return
		}
		answerOK(w)
	})
	return mux
}
