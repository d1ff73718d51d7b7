package forecast

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast/trial"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// Exhaust plays the passes over the observed cluster once for each fault at each of their steps, and returns how that ends:
// before the first pass, and between the decision and the first action of a kind that a stage takes. The error is the context's.
func Exhaust(ctx context.Context, r Request) (planned.SingleFaults, error) {
	r = r.withDefaults()
	singles, unsupported, err := r.enumerate(ctx)
	if err != nil || unsupported != nil {
		return planned.SingleFaults{Unavailable: unsupported, Histories: []planned.SingleFault{}}, err
	}
	all := planned.SingleFaults{Histories: make([]planned.SingleFault, len(singles))}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(singles)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				run, err := r.playSingle(ctx, singles[i])
				if all.Histories[i] = run; err != nil {
					stop(err)
				}
			}
		})
	}
	players.Wait()
	if ctx.Err() != nil {
		return all, context.Cause(ctx)
	}
	return all.Summed(), nil
}

// observedPlayer plays over a history of the observed cluster.
func (r Request) observedPlayer(ctx context.Context) (*player, error) {
	w, err := sim.Adopt(ctx, sim.Adoption{Observed: r.Observed, Seed: r.Seed, PodStart: r.PodStart, PullStart: r.pullStart, MoveRate: r.MoveRate, KeepActions: true})
	if err != nil {
		return nil, err
	}
	p := newPlayer(r, w)
	p.history = trial.NewObserved(w, r.Stages)
	return p, nil
}

// enumerate plays without a fault, and returns the faults of all steps.
func (r Request) enumerate(ctx context.Context) (singles []trial.Single, unsupported *planned.NoForecast, err error) {
	p, err := r.observedPlayer(ctx)
	if err == nil {
		p.history.Enumerate(func(s trial.Single) { singles = append(singles, s) })
		err = p.play(ctx)
	}
	if err != nil {
		f, err := unavailable(ctx, err)
		return nil, f.Unavailable, err
	}
	return singles, nil, nil
}

// playSingle plays with one fault.
func (r Request) playSingle(ctx context.Context, s trial.Single) (planned.SingleFault, error) {
	run := planned.SingleFault{Fault: s.Fault.Code(), What: s.Fault.Text(), Group: s.Fault.Group(), Pass: s.Step.Pass, Stage: s.Step.Stage, Action: s.Step.Kind}
	p, err := r.observedPlayer(ctx)
	if err != nil {
		return run, err
	}
	p.history.Meet(s, func() { run.FaultSeconds, run.Node = p.record.elapsed(), nodeOf(p.w, run.Group) })
	if err := p.play(ctx); err != nil {
		return run, err
	}
	f := p.record.result()
	run.End, run.Seconds, run.PausedSeconds, run.FewestCopies = f.End, f.Seconds, f.Totals.PausedSeconds, max(p.fewest, 0)
	for _, v := range p.history.Violations() {
		run.Violations = append(run.Violations, planned.BrokenInvariant{Invariant: v.Invariant, Promise: v.Sentence, Evidence: v.Why})
	}
	run.Story = inspect.OrEmpty(storyOf(f, p.record.holds))
	return run, nil
}

// nodeOf is the node of the pod of a process group; empty for none.
func nodeOf(w *sim.Cluster, id v1beta2.ProcessGroupID) string {
	g := w.Resource.ProcessGroup(id)
	if g == nil || w.Pods[g.PodName(w.Resource)] == nil {
		return ""
	}
	return w.Pods[g.PodName(w.Resource)].Spec.NodeName
}
