package metrics

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
