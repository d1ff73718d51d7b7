// Package forecast plays the passes of a change over a simulation of the observed cluster, until
// nothing is left to do: what will happen, in which order, and about how long it takes.
package forecast

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast/trial"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// Request is what to forecast.
type Request struct {
	// Observed has all facets of a pass over a cluster, and the overrides.
	Observed plan.Snapshot
	// Stages are those of each pass.
	Stages []plan.Stage
	// Seed makes the random choices of the passes.
	Seed uint64
	// PodStart is how long a new pod takes until it runs; 0 means as long as those that run took, and without one
	// DefaultPodStart. With an image that no pod has it is at least DefaultPodStart.
	PodStart time.Duration
	// MoveRate is how many bytes of data move per second; 0 means DefaultMoveRate.
	MoveRate int64
	// Peak takes what the pods and PVCs add to quotas at most; nil for nothing.
	Peak *admission.Peak

	// pullStart is how long a pod takes whose image no pod has, if longer.
	pullStart time.Duration
}

// What durations are computed from, unless a request has its own.
const (
	// DefaultPodStart covers scheduling, an attached volume and an image that the node has.
	DefaultPodStart = 20 * time.Second
	// DefaultMoveRate is that of a small cluster with SSDs.
	DefaultMoveRate = 50 << 20
)

const (
	// longestForecast bounds how far a forecast looks ahead.
	longestForecast = 48 * time.Hour
	// idleLimit is after how long without an action a forecast ends: longer than all waits that end
	// by themselves.
	idleLimit = 3 * time.Hour
	// blocked is the same for what requires manual intervention.
	blocked = time.Hour
	// passTime is how long the reads of a pass take: half a second was measured with an fdbcli that stays open, on a
	// machine without a network.
	passTime = time.Second
	// idleInterval bounds the interval between passes, which is that of a command, and grows with the time since the
	// last action while nothing happens.
	idleInterval = 10 * time.Minute
	// faultStep is the time between two moments at which things may fail.
	faultStep = 5 * time.Second
)

// Play returns the forecast. A cluster that cannot be simulated is a forecast with the reason; the
// error is the context's.
func Play(ctx context.Context, r Request) (planned.Forecast, error) {
	r = r.withDefaults()
	w, err := sim.Adopt(ctx, sim.Adoption{Observed: r.Observed, Seed: r.Seed, PodStart: r.PodStart, PullStart: r.pullStart, MoveRate: r.MoveRate})
	if err != nil {
		return unavailable(ctx, err)
	}
	p := newPlayer(r, w)
	if err := p.play(ctx); err != nil {
		return unavailable(ctx, err)
	}
	return p.record.result(), nil
}

func (r Request) withDefaults() Request {
	if r.PodStart == 0 {
		r.PodStart, r.pullStart = cmp.Or(podStart(r.Observed), DefaultPodStart), DefaultPodStart
	}
	r.MoveRate = cmp.Or(r.MoveRate, DefaultMoveRate)
	return r
}

// podStart is how long one of four pods took at most from its creation to the start of the main container, of those that have
// not restarted; 0 without one. The others may have pulled an image first, or have come at once with a new cluster.
func podStart(s plan.Snapshot) time.Duration {
	var took []time.Duration
	for _, pod := range s.Pods {
		for _, c := range pod.Status.ContainerStatuses {
			if c.Name == v1beta2.ContainerMain && c.State.Running != nil && c.RestartCount == 0 && !pod.CreationTimestamp.IsZero() {
				took = append(took, max(time.Second, c.State.Running.StartedAt.Sub(pod.CreationTimestamp.Time)))
			}
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[(len(took)-1)/4]
}

func newPlayer(r Request, w *sim.Cluster) *player {
	return &player{Request: r, w: w, start: w.Now(), acted: w.Now(), hashes: plan.NewHashMemo(), record: newRecorder(w, r), fewest: -1}
}

// unavailable is the forecast of a cluster that cannot be simulated.
func unavailable(ctx context.Context, err error) (planned.Forecast, error) {
	if ctx.Err() != nil {
		return planned.Forecast{}, ctx.Err()
	}
	if unsupported, ok := errors.AsType[*sim.UnsupportedError](err); ok {
		return planned.NoForecastFor(string(unsupported.Code), unsupported.Detail), nil
	}
	return planned.NoForecastFor(string(sim.UnsupportedState), err.Error()), nil
}

// player runs passes over a simulation.
type player struct {
	Request
	w      *sim.Cluster
	record *recorder
	start  time.Time
	acted  time.Time // when the last pass acted
	hashes *plan.HashMemo
	// injector lets things fail between passes; nil where nothing does.
	injector *injector
	// history lets one thing fail at a step of a pass, and judges the passes; nil for a forecast, in which nothing fails.
	history *trial.Observed
	// fewest is the smallest number of copies of all data on processes that answer; -1 before the first observation.
	fewest int
}

func (p *player) play(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := p.pass(ctx)
		if err != nil {
			return err
		}
		if done.Outcome == reconcile.Done {
			p.record.essentialsDone()
		}
		if end, ended := p.ends(done); ended {
			p.record.ends(end)
			return nil
		}
		p.record.waited(p.letPass(ctx, p.interval(done)))
	}
}

// letPass lets time pass, in which things may fail, until the next pass, which follows a change as that of a command does. It
// returns how long it was.
func (p *player) letPass(ctx context.Context, d time.Duration) time.Duration {
	if p.injector == nil && p.history == nil {
		return p.w.Await(ctx, d, pace.DefaultInterval)
	}
	for left := d; left > 0; left -= faultStep {
		p.w.Tick(min(left, faultStep))
		p.observe()
		if p.injector != nil {
			p.injector.inject()
		} else {
			p.history.Recover()
		}
		p.observe()
	}
	return d
}

// observe notes how many copies of all data there are.
func (p *player) observe() {
	copies, known := p.w.FewestCopies()
	if known && (p.fewest < 0 || copies < p.fewest) {
		p.fewest = copies
	}
}

func (p *player) pass(ctx context.Context) (reconcile.PassDone, error) {
	p.record.passBegins()
	report := func(e reconcile.Event) {
		p.Seed = reconcile.NextSeed(p.Seed, e) // as the passes of a command do
		p.record.report(e)
	}
	pass := reconcile.Pass{Stages: p.Stages, Observer: p.w, Actor: p.w, Report: report, Seed: p.Seed, Hashes: p.hashes, Continues: true}
	p.w.Tick(passTime)
	done, err := p.run(ctx, pass)
	if p.record.changed {
		p.acted = p.w.Now()
	}
	return done, err
}

// run runs a pass, through the witness of the history where there is one.
func (p *player) run(ctx context.Context, pass reconcile.Pass) (reconcile.PassDone, error) {
	if p.history == nil {
		return pass.Run(ctx)
	}
	defer p.observe()
	return p.history.Run(ctx, pass)
}

// ends reports how the forecast ends after a pass, if it does.
func (p *player) ends(done reconcile.PassDone) (planned.ForecastEnd, bool) {
	idle := p.w.Now().Sub(p.acted)
	switch {
	case done.Settled():
		return planned.ForecastComplete, true
	case p.history != nil && len(p.history.Violations()) > 0:
		return planned.ForecastUnfinished, true
	case done.Outcome == reconcile.Failed && (p.history == nil || idle > blocked): // a fault ends, and the next pass tries again
		return planned.ForecastFailed, true
	case done.Outcome == reconcile.Blocked && idle > blocked:
		return planned.ForecastBlocked, true
	case idle > idleLimit:
		return planned.ForecastWaiting, true
	case p.w.Now().Sub(p.start) > longestForecast:
		return planned.ForecastUnfinished, true
	}
	return "", false
}

// interval is the time until the next pass, as for the passes of a command. It grows while nothing
// happens, which costs precision and saves time.
func (p *player) interval(done reconcile.PassDone) time.Duration {
	if p.record.changed { // passes follow what changes because of their actions
		return pace.DefaultInterval
	}
	due := max(done.RetryAfter, done.TidyAfter())
	interval := max(min(due, pace.LongestRest), pace.DefaultInterval)
	const part = 4 // of the time without an action: the end of a long wait is observed a little late
	idle := p.w.Now().Sub(p.acted) / part
	return max(interval, min(idle, idleInterval)).Truncate(time.Second)
}
