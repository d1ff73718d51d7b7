package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// How often something fails in a simulation, and for how long.
const (
	// shortestPause and longestPause bound the time between two failures.
	shortestPause = 2 * time.Minute
	longestPause  = 10 * time.Minute
	// outage is how long a lost node is unreachable.
	outage = 4 * time.Minute
	// maxFailures bounds the failures of one simulation, so that it can complete.
	maxFailures = 5
)

// Simulate plays the passes so many times over the observed cluster while processes, pods and nodes
// fail at random, one after the other, and returns how that ends. The seeds of the simulations are
// 1, 2 and so on. The error is the context's.
func Simulate(ctx context.Context, r Request, times int) (planned.Simulations, error) {
	r = r.withDefaults()
	all := planned.Simulations{Runs: []planned.Simulation{}}
	for seed := range uint64(times) { //nolint:gosec // not negative
		run, unsupported, err := simulate(ctx, r, seed+1)
		if err != nil {
			return all, err
		}
		if unsupported != nil {
			all.Unavailable = unsupported
			return all, nil
		}
		all.Runs = append(all.Runs, run)
	}
	return all.Summed(), nil
}

func simulate(ctx context.Context, r Request, seed uint64) (planned.Simulation, *planned.NoForecast, error) {
	w, err := sim.Adopt(ctx, sim.Adoption{Observed: r.Observed, Seed: seed, PodStart: r.PodStart, PullStart: r.pullStart, MoveRate: r.MoveRate})
	if err != nil {
		f, err := unavailable(ctx, err)
		return planned.Simulation{}, f.Unavailable, err
	}
	p := newPlayer(r, w)
	d := &injector{w: w, random: rand.New(rand.NewPCG(seed, seed)), start: w.Now()}
	p.injector = d
	if err := p.play(ctx); err != nil {
		f, err := unavailable(ctx, err)
		return planned.Simulation{}, f.Unavailable, err
	}
	f := p.record.result()
	d.story = append(d.story, storyOf(f, p.record.holds)...)
	stable.Sort(d.story, func(a, b planned.SimulatedEvent) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return planned.Simulation{
		Seed: seed, End: f.End, Seconds: f.Seconds, PausedSeconds: f.Totals.PausedSeconds, FewestCopies: max(p.fewest, 0), Story: inspect.OrEmpty(d.story),
	}, nil, nil
}

// injector lets processes, pods and nodes fail.
type injector struct {
	w      *sim.Cluster
	random *rand.Rand
	start  time.Time
	due    time.Time
	back   map[string]time.Time // when lost nodes come back
	count  int
	story  []planned.SimulatedEvent
}

// inject lets something fail if it is time for that.
func (d *injector) inject() {
	now := d.w.Now()
	for node, at := range d.back {
		if !now.Before(at) {
			d.w.ReturnNode(node)
			delete(d.back, node)
			d.note("node " + node + " is back")
		}
	}
	switch {
	case d.due.IsZero():
		d.due = now.Add(d.pauseLength())
	case d.count < maxFailures && len(d.back) == 0 && !now.Before(d.due):
		d.count++
		d.due = now.Add(d.pauseLength())
		d.fail()
	}
}

func (d *injector) pauseLength() time.Duration {
	return shortestPause + time.Duration(d.random.Int64N(int64(longestPause-shortestPause)))
}

func (d *injector) fail() {
	pods := d.w.RunningPods()
	if len(pods) == 0 {
		return
	}
	pod := pods[d.random.IntN(len(pods))]
	switch d.random.IntN(3) {
	case 0:
		d.note("the processes of pod " + pod + " crash")
		d.w.KillServers(pod)
	case 1:
		d.note("pod " + pod + " is deleted")
		d.w.KillPod(pod)
	default:
		node := d.w.Pods[pod].Spec.NodeName
		d.note("node " + node + " is lost for " + phrase.Duration(outage))
		d.w.LoseNode(node)
		if d.back == nil {
			d.back = map[string]time.Time{}
		}
		d.back[node] = d.w.Now().Add(outage)
	}
}

func (d *injector) note(what string) {
	d.story = append(d.story, planned.SimulatedEvent{Seconds: d.w.Now().Sub(d.start).Seconds(), What: what})
}

// storyOf is what the passes did that has an impact, and what they wait for in the end.
func storyOf(f planned.Forecast, holds []*planned.ForecastWait) (story []planned.SimulatedEvent) {
	for _, p := range f.Phases {
		if p.Impact == plan.NoImpact {
			continue
		}
		story = append(story, planned.SimulatedEvent{Seconds: p.FromSeconds, What: fmt.Sprintf("%s: %s (%s in all, until %s)",
			p.Stage, p.Summary, phrase.Count(p.Actions, "action"), phrase.Duration(time.Duration(p.ToSeconds*float64(time.Second))))})
	}
	if f.End == planned.ForecastComplete {
		return story
	}
	for _, hold := range holds {
		story = append(story, planned.SimulatedEvent{Seconds: f.Seconds, What: string(hold.Stage) + " waits: " + hold.Reason})
	}
	return story
}
