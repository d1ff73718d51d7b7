package trial

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// lasts is how long a fault of an observed cluster lasts that does not end by itself.
const lasts = 4 * time.Minute

// ofObserved are the faults that an observed cluster meets: those that end by themselves or within minutes, and in which no
// user takes part.
var ofObserved = []string{
	"processes-crash", "pod-lost", "volume-lost", "node-lost",
	"status-stale", "status-partial", "status-timeout", "commands-slow", "command-cut-before", "command-cut-after", "commit-unknown",
	"plugin-killed", "action-refused", "answer-lost", "lock-lost",
}

// Observed is a history of a simulation of an observed cluster, for callers with passes and a clock of their own.
type Observed struct {
	*History
	end time.Time // of the fault
}

// NewObserved is the history of the operation that the stages carry out, with one fault at most.
func NewObserved(w *sim.Cluster, all []plan.Stage) *Observed {
	h := blank(0, nil)
	h.w, h.clusters, h.stages, h.single, h.observed = w, []*sim.Cluster{w}, all, true, true
	return &Observed{History: h}
}

// Run runs a pass through the witness; its observer, actor and gates are those of the history.
func (o *Observed) Run(ctx context.Context, p reconcile.Pass) (reconcile.PassDone, error) {
	o.startRoutine()
	done, err := o.run(ctx, p)
	if err == nil && !o.violated() && o.exists() {
		o.judge(afterPass, nil)
	}
	return done, err
}

// Recover ends a fault that does not end by itself, once it is over.
func (o *Observed) Recover() {
	if !o.end.IsZero() && !o.w.Now().Before(o.end) {
		o.end = time.Time{}
		o.healthy()
	}
}

// Violations are the invariants that did not hold; a history ends with the first.
func (o *Observed) Violations() []Violation { return o.violations }

// Enumerate calls found for each fault of each step that is not like an earlier one: of the first pass, and of the first action of
// a kind that a stage takes.
func (o *Observed) Enumerate(found func(Single)) {
	seen := map[Step]bool{}
	o.arriving = func(at Step, about []v1beta2.ProcessGroupID) bool {
		kind := Step{Stage: at.Stage, Kind: at.Kind}
		if seen[kind] || plan.RecordsKind(at.Kind) || !o.exists() {
			return false
		}
		seen[kind] = true
		for _, f := range o.faults(at, about) {
			if slices.Contains(ofObserved, f.problem.code) {
				found(Single{at, f})
			}
		}
		return false
	}
}

// Meet lets the fault happen at its step, and calls met then, with the node of a fault of one.
func (o *Observed) Meet(s Single, met func()) {
	came := false
	o.arriving = func(at Step, _ []v1beta2.ProcessGroupID) bool {
		if came || at != s.Step {
			return false
		}
		came = true
		met()
		s.Fault.happen(o.History)
		o.end = o.w.Now().Add(lasts)
		return true
	}
}

// Code identifies what goes wrong.
func (f Fault) Code() string { return f.problem.code }

// Group is the process group that the fault hits; empty for what all depend on.
func (f Fault) Group() v1beta2.ProcessGroupID { return f.group }

// Text describes what goes wrong.
func (f Fault) Text() string { return f.problem.name }
