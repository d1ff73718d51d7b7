package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
