package forecast

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// recorder makes a forecast of the events of all passes.
type recorder struct {
	w      *sim.Cluster
	peak   *admission.Peak
	start  time.Time
	before sim.Counters
	// known are the process groups that exist when the forecast begins.
	known    map[v1beta2.ProcessGroupID]bool
	forecast planned.Forecast
	// inPass counts the process groups of each phase in this pass.
	inPass map[*planned.ForecastPhase]int
	phases []*planned.ForecastPhase
	waits  []*planned.ForecastWait
	// newest has the last hold of each wait that lasted for more than one pass.
	newest map[*planned.ForecastWait]inspect.HoldRecord
	// changed is true once this pass acted; holds are its holds.
	changed bool
	holds   []*planned.ForecastWait
	// essential is when everything but housekeeping was done, after the start; nil while it is not.
	essential *float64
}

func newRecorder(w *sim.Cluster, r Request) *recorder {
	known := map[v1beta2.ProcessGroupID]bool{}
	for _, g := range r.Observed.Groups() {
		known[g.ProcessGroupID] = true
	}
	rec := &recorder{w: w, peak: r.Peak, start: w.Now(), known: known, newest: map[*planned.ForecastWait]inspect.HoldRecord{}, before: w.Counters()}
	rec.forecast.Assumed = planned.ForecastAssumptions{PodStartSeconds: r.PodStart.Seconds(), MoveBytesPerSecond: r.MoveRate, NodesUnread: r.Observed.NodesHidden}
	rec.forecast.Totals.PodsNow = len(w.Pods)
	rec.countPods()
	return rec
}

func (r *recorder) passBegins() {
	for phase := range r.inPass {
		r.countCopies(phase) // after the pause that followed its actions
	}
	r.forecast.Passes++
	r.changed, r.holds, r.inPass = false, nil, map[*planned.ForecastPhase]int{}
}

// report takes one event of a pass.
func (r *recorder) report(e reconcile.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // other events do not change the forecast
	case reconcile.ActionDone:
		if e.Err == nil && !plan.Records(e.Action) {
			r.acted(e.Stage, e.Action)
		}
		if e.Err == nil && r.peak != nil && r.peak.Acted(e.Action) {
			r.peak.Count(admission.Objects(r.w.Pods, r.w.Volumes))
		}
		r.countPods()
	case reconcile.StageDecided:
		if e.Hold != nil {
			r.essential = nil
			r.holds = append(r.holds, r.waitOf(e))
		}
	}
}

func (r *recorder) countPods() {
	r.forecast.Totals.PodsAtPeak = max(r.forecast.Totals.PodsAtPeak, len(r.w.Pods))
}

func (r *recorder) elapsed() float64 { return r.w.Now().Sub(r.start).Seconds() }

// essentialsDone notes that a pass found nothing but housekeeping.
func (r *recorder) essentialsDone() {
	if r.essential == nil {
		r.essential = new(r.elapsed())
	}
}

func (r *recorder) acted(stage plan.StageName, a plan.Action) {
	r.changed = true
	phase := r.phase(stage, a)
	phase.Actions++
	phase.ToSeconds = r.elapsed()
	groups := plan.GroupsOf(a)
	for _, id := range groups {
		phase.Groups = withNew(phase.Groups, id)
		if !r.known[id] {
			phase.New = withNew(phase.New, id)
		}
	}
	r.inPass[phase] += len(groups)
	phase.MostAtOnce = max(phase.MostAtOnce, r.inPass[phase])
	describe(phase, a)
	r.countCopies(phase)
	r.forecast.Totals.Add(a)
}

// countCopies notes the copies of data that answer while a phase runs.
func (r *recorder) countCopies(phase *planned.ForecastPhase) {
	copies, known := r.w.FewestCopies()
	if !known || phase.Impact == plan.NoImpact {
		return
	}
	if phase.FewestCopies == nil || copies < *phase.FewestCopies {
		phase.FewestCopies = &copies
	}
}

// describe adds what distinguishes actions of some kinds.
func describe(phase *planned.ForecastPhase, a plan.Action) {
	switch a := a.(type) { //nolint:gochecksumtype // all others are described by their process groups
	case plan.Configure:
		phase.Commands = withNew(phase.Commands, a.Command)
	case plan.AddGroups:
		if phase.Classes == nil {
			phase.Classes = map[v1beta2.ProcessClass]int{}
		}
		for _, g := range a.Groups {
			phase.Classes[g.Class]++
		}
	}
}

// phase returns the phase of an action, a new one for the first of its stage and kind.
func (r *recorder) phase(stage plan.StageName, a plan.Action) *planned.ForecastPhase {
	for _, p := range r.phases {
		if p.Stage == stage && p.Kind == plan.KindOf(a) {
			return p
		}
	}
	p := &planned.ForecastPhase{
		Stage: stage, Kind: plan.KindOf(a), FromSeconds: r.elapsed(), Groups: []v1beta2.ProcessGroupID{},
		Impact: plan.EffectOf(a).Impact, Summary: a.Describe(),
	}
	r.phases = append(r.phases, p)
	return p
}

// waitOf returns the wait of a hold: one for each stage and code, with the reason of its beginning, since
// the last reason is about a condition that is almost met.
func (r *recorder) waitOf(e reconcile.StageDecided) *planned.ForecastWait {
	for _, w := range r.waits {
		if w.Stage == e.Stage && w.Code == e.Hold.Code {
			if w.Seconds == 0 {
				w.HoldRecord = *inspect.RecordHold(e.Hold)
			}
			r.newest[w] = *inspect.RecordHold(e.Hold)
			return w
		}
	}
	w := &planned.ForecastWait{Stage: e.Stage, HoldRecord: *inspect.RecordHold(e.Hold)}
	for _, c := range e.Checks {
		if !c.OK && c.Gate != "" {
			w.Gates = withNew(w.Gates, c.Gate)
		}
	}
	r.waits = append(r.waits, w)
	return w
}

// waited adds a pause to the first hold of the last pass that does not only follow others.
func (r *recorder) waited(d time.Duration) {
	for _, hold := range r.holds {
		if !hold.Follows {
			hold.Seconds += d.Seconds()
			return
		}
	}
}

func (r *recorder) ends(end planned.ForecastEnd) {
	f := &r.forecast
	f.End, f.Seconds, f.Totals.PodsAtEnd = end, r.elapsed(), len(r.w.Pods)
	if r.essential != nil {
		f.Seconds, f.HousekeepingSeconds = *r.essential, f.Seconds-*r.essential
	}
	now := r.w.Counters()
	f.Totals.Recoveries = now.Recoveries - r.before.Recoveries
	f.Totals.PausedSeconds = (now.Paused - r.before.Paused).Seconds()
	f.Totals.MovedBytes = now.MovedBytes - r.before.MovedBytes
}

// result returns the forecast once it has ended. If it is not complete, the holds of the last
// pass are included even if they took no time, with their newest reasons.
func (r *recorder) result() planned.Forecast {
	f := r.forecast
	f.Phases, f.Waits = []planned.ForecastPhase{}, []planned.ForecastWait{}
	for _, p := range r.phases {
		f.Phases = append(f.Phases, *p)
	}
	for _, w := range r.waits {
		held := f.End != planned.ForecastComplete && slices.Contains(r.holds, w)
		if newest, found := r.newest[w]; held && found {
			w.HoldRecord = newest
		}
		if held || w.Seconds > 0 {
			f.Waits = append(f.Waits, *w)
		}
	}
	stable.Sort(f.Waits, func(a, b planned.ForecastWait) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return f.Sealed()
}

// withNew appends an element that is not there yet.
func withNew[T comparable](all []T, one T) []T {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}
