// Package metrics counts what passes do, for Prometheus: another consumer of the stream of
// events. It has a registry of its own and no global state.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// namespace begins the name of every metric.
const namespace = "kubectl_fdb"

// Metrics counts the passes over one cluster. Report is called by one
// goroutine; the registry may be read concurrently.
type Metrics struct {
	registry *prometheus.Registry
	own      prometheus.Labels
	now      func() time.Time

	passes, stages, actions, refusals  *prometheus.CounterVec
	passSeconds                        prometheus.Histogram
	stageSeconds                       *prometheus.HistogramVec
	lastPass, conditions               *prometheus.GaugeVec
	generation, reconciled, retryAfter prometheus.Gauge
	processGroups                      prometheus.Gauge

	// unknown is how many process groups have unknown conditions, by the last query of the database.
	unknown int

	database   *database
	operations *operations

	pass pass
}

// pass is the state of a running pass.
type pass struct {
	started, stageStarted time.Time
	refused               map[refusal]bool
}

// refusal is a gate that refused a stage; the stage is empty for gates that are checked
// before any.
type refusal struct {
	stage plan.StageName
	gate  plan.Gate
}

// New makes the metrics of passes over the cluster of that name and namespace. Now returns the time.
func New(cluster, clusterNamespace string, now func() time.Time) *Metrics {
	m := unregistered(cluster, clusterNamespace, now)
	m.registry.MustRegister(
		m.passes, m.stages, m.actions, m.refusals, m.passSeconds, m.stageSeconds,
		m.lastPass, m.conditions, m.generation, m.reconciled, m.retryAfter, m.processGroups,
	)
	for outcome := reconcile.Done; outcome <= reconcile.Failed; outcome++ {
		m.passes.WithLabelValues(outcome.String()) // a rate needs a zero to start from
	}
	return m
}

// unregistered has only the metrics of the database and of operations in its registry.
func unregistered(cluster, clusterNamespace string, now func() time.Time) *Metrics {
	own := prometheus.Labels{"fdb_cluster": cluster, "fdb_namespace": clusterNamespace}
	m := &Metrics{registry: prometheus.NewRegistry(), own: own, now: now}
	m.addCounters(own)
	m.addDurations(own)
	m.addGauges(own)
	m.database = newDatabase(own)
	m.database.register(m.registry)
	m.operations = newOperations(own, now)
	m.registry.MustRegister(m.operations)
	return m
}

func (m *Metrics) addCounters(own prometheus.Labels) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: own}, labels)
	}
	m.passes = counter("passes_total", "Passes that ended, by outcome.", "outcome")
	m.stages = counter("stages_total", "Stages that ended, by outcome.", "stage", "outcome")
	m.actions = counter("actions_total", "Actions that ran, by kind and result.", "kind", "result")
	m.refusals = counter("gate_refusals_total", "Passes in which a safety gate refused, by gate and stage; the stage is empty for gates checked before the first change.", "gate", "stage")
}

func (m *Metrics) addDurations(own prometheus.Labels) {
	// A pass with nothing to do takes a second, one that creates a database minutes.
	m.passSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Name: "pass_duration_seconds", Help: "Duration of passes.",
		ConstLabels: own, Buckets: []float64{.5, 1, 2, 5, 10, 30, 60, 120, 300, 600},
	})
	m.stageSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "stage_duration_seconds", Help: "Duration of stages, including reads and actions.",
		ConstLabels: own, Buckets: []float64{.1, 1, 10, 60, 300},
	}, []string{"stage"})
}

func (m *Metrics) addGauges(own prometheus.Labels) {
	options := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: own}
	}
	m.lastPass = prometheus.NewGaugeVec(options("last_pass_timestamp_seconds", "When the last pass with this outcome ended."), []string{"outcome"})
	m.conditions = prometheus.NewGaugeVec(options("process_group_conditions", "Process groups that have this condition; Unknown counts those whose conditions cannot be evaluated, since the database does not answer."), []string{"condition"})
	m.processGroups = prometheus.NewGauge(options("process_groups", "Process groups in the status."))
	m.generation = prometheus.NewGauge(options("generation", "Generation of the resource; it increases with every change of its spec."))
	m.reconciled = prometheus.NewGauge(options("reconciled_generation", "Newest reconciled generation; 0 for none."))
	m.retryAfter = prometheus.NewGauge(options("retry_after_seconds", "The longest wait that the last pass requires; 0 for none."))
}

// Report counts an event.
func (m *Metrics) Report(e reconcile.Event) {
	switch e := e.(type) {
	case reconcile.PassStarted:
		m.passStarted(e)
	case reconcile.Observed:
		if e.Snapshot.Cluster != nil {
			m.observed(e.Facets, e.Snapshot)
		}
		m.database.observed(e.Facets, e.Snapshot)
	case reconcile.GatesChecked:
		m.checked("", e.Checks)
	case reconcile.StageDecided:
		m.checked(e.Stage, e.Checks)
	case reconcile.ActionDone:
		m.actions.WithLabelValues(plan.KindOf(e.Action), resultOf(e.Err)).Inc()
	case reconcile.StageDone:
		m.stageDone(e)
	case reconcile.PassDone:
		m.passDone(e)
	case reconcile.Observing, reconcile.LeaseTaken, reconcile.LockTaken, reconcile.ActionStarted: // parts of what is counted when it ends
	}
}

func resultOf(err error) string {
	if err != nil {
		return "failed"
	}
	return "done"
}

func (m *Metrics) passStarted(e reconcile.PassStarted) {
	now := m.now()
	if e.Round == 1 {
		m.pass = pass{started: now, refused: map[refusal]bool{}}
	}
	m.pass.stageStarted = now
}

// unknownConditions counts as a condition the process groups whose conditions cannot be evaluated.
const unknownConditions = "Unknown"

func (m *Metrics) observed(facets plan.Facet, s plan.Snapshot) {
	c := s.Cluster
	if facets&plan.Database != 0 {
		m.unknown = inspect.Facts{Snapshot: s}.UnknownConditions()
	}
	m.generation.Set(float64(c.Generation))
	m.reconciled.Set(float64(c.Status.Generations.Reconciled))
	m.processGroups.Set(float64(len(c.Status.ProcessGroups)))
	count := map[string]int{}
	for _, group := range c.Status.ProcessGroups {
		for _, condition := range group.ProcessGroupConditions {
			count[string(condition.Type)]++
		}
	}
	if m.unknown > 0 {
		count[unknownConditions] = m.unknown
	}
	m.conditions.Reset()
	for condition, n := range count {
		m.conditions.WithLabelValues(condition).Set(float64(n))
	}
}

// checked counts a gate that refused once for each pass and stage: a stage decides again
// after taking the Lease and after taking the lock.
func (m *Metrics) checked(stage plan.StageName, checks []plan.Check) {
	for _, c := range checks {
		r := refusal{stage, c.Gate}
		if c.OK || c.Gate == "" || m.pass.refused[r] {
			continue
		}
		m.pass.refused[r] = true
		m.refusals.WithLabelValues(string(r.gate), string(r.stage)).Inc()
	}
}

func (m *Metrics) stageDone(e reconcile.StageDone) {
	now := m.now()
	m.stages.WithLabelValues(string(e.Stage), e.Outcome.String()).Inc()
	m.stageSeconds.WithLabelValues(string(e.Stage)).Observe(now.Sub(m.pass.stageStarted).Seconds())
	m.pass.stageStarted = now
}

func (m *Metrics) passDone(e reconcile.PassDone) {
	now, outcome := m.now(), e.Outcome.String()
	m.passes.WithLabelValues(outcome).Inc()
	m.passSeconds.Observe(now.Sub(m.pass.started).Seconds())
	m.lastPass.WithLabelValues(outcome).Set(float64(now.UnixNano()) / float64(time.Second))
	m.retryAfter.Set(e.RetryAfter.Seconds())
}
