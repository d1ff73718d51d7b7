package planned

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Forecast is what all passes will do until nothing is left, as a simulation of the observed
// cluster shows it. Nothing fails in it.
type Forecast struct {
	// End is how it ends.
	End ForecastEnd `json:"end"`
	// Unavailable is why there is no forecast: a code and what it rests on. Null with one.
	Unavailable *NoForecast `json:"unavailable,omitempty"`
	// Passes counts the passes.
	Passes int `json:"passes"`
	// Seconds is how long it takes until everything essential is done, or until the end for a
	// forecast that does not complete.
	Seconds float64 `json:"seconds"`
	// HousekeepingSeconds is how long after that passes complete the housekeeping; 0 without any.
	HousekeepingSeconds float64 `json:"housekeepingSeconds"`
	// Begins is true if these passes only begin what the command is for: later ones, which the command does not
	// run, have to complete it. With --wait they are a part of the forecast.
	Begins bool `json:"begins,omitempty"`
	// Phases are the actions of all passes by stage and kind, in the order of their first ones.
	// Actions that only record observations are left out.
	Phases []ForecastPhase `json:"phases"`
	Totals ForecastTotals  `json:"totals"`
	// Waits are what the passes wait for, the longest first.
	Waits []ForecastWait `json:"waits"`
	// Assumed is what the durations rest on.
	Assumed ForecastAssumptions `json:"assumed"`
	// Digest is equal for two forecasts that permit the same actions; see Sealed.
	Digest string `json:"digest,omitempty"`
}

// permission is what the approval of a phase permits.
type permission struct {
	Stage       plan.StageName
	Kind        string
	Groups, New []v1beta2.ProcessGroupID
	Classes     map[v1beta2.ProcessClass]int
	Commands    []string
}

// Sealed returns the forecast with its digest.
func (f Forecast) Sealed() Forecast {
	f.Digest = f.digest()
	return f
}

func (f Forecast) digest() string {
	all := make([]permission, len(f.Phases))
	for i, p := range f.Phases {
		all[i] = permission{p.Stage, p.Kind, p.Groups, p.New, p.Classes, p.Commands}
	}
	return digestOf(all)
}

// ForecastEnd is how a forecast ends.
type ForecastEnd string

// The ends.
const (
	ForecastComplete    ForecastEnd = "complete"    // nothing is left to do
	ForecastBlocked     ForecastEnd = "blocked"     // manual intervention is required; see Waits
	ForecastWaiting     ForecastEnd = "waiting"     // what the passes wait for does not happen by itself
	ForecastUnfinished  ForecastEnd = "unfinished"  // longer than forecasts look ahead
	ForecastFailed      ForecastEnd = "failed"      // an action fails, although nothing else does
	ForecastUnavailable ForecastEnd = "unavailable" // the cluster cannot be simulated
)

// NoForecast is why there is no forecast.
type NoForecast struct {
	// Code is the stable reason.
	Code string `json:"code"`
	// Detail is what it rests on; empty where the code is enough.
	Detail string `json:"detail,omitempty"`
}

// NoForecastFor returns the forecast of what cannot be simulated.
func NoForecastFor(code, detail string) Forecast {
	return Forecast{End: ForecastUnavailable, Unavailable: &NoForecast{Code: code, Detail: detail}, Phases: []ForecastPhase{}, Waits: []ForecastWait{}}
}

// ForecastPhase is all actions of a kind that a stage will carry out.
type ForecastPhase struct {
	Stage plan.StageName `json:"stage"`
	Kind  string         `json:"kind"`
	// FromSeconds and ToSeconds are when the first begins and the last ends, after the first pass.
	FromSeconds float64 `json:"fromSeconds"`
	ToSeconds   float64 `json:"toSeconds"`
	Actions     int     `json:"actions"`
	// MostAtOnce is the largest number of process groups of one pass.
	MostAtOnce int `json:"mostAtOnce"`
	// Groups are the process groups; New those of them that do not exist yet: their IDs are drawn
	// again when they are created.
	Groups []v1beta2.ProcessGroupID `json:"groups"`
	New    []v1beta2.ProcessGroupID `json:"new,omitempty"`
	// Classes count the process groups that the phase creates.
	Classes map[v1beta2.ProcessClass]int `json:"classes,omitempty"`
	Impact  plan.Impact                  `json:"impact"`
	// Summary describes the first action.
	Summary string `json:"summary"`
	// Commands are the commands for the database of actions that have one.
	Commands []string `json:"commands,omitempty"`
	// FewestCopies is on how many processes that answer, each in a fault domain of its own, all data is
	// at least while the phase runs; null before a database exists, and for phases without impact.
	FewestCopies *int `json:"fewestCopies,omitempty"`
}

// Matters reports whether the phase has an impact on a running database, or creates or deletes pods.
func (p ForecastPhase) Matters() bool {
	return p.Impact != plan.NoImpact || p.Kind == plan.KindOf(plan.CreatePod{})
}

// NodeLoss is what the loss of one more node does.
type NodeLoss string

// The effects of such a loss.
const (
	// NodeLossTolerated leaves a copy of all data that answers.
	NodeLossTolerated NodeLoss = "tolerated"
	// NodeLossPauses takes the only copy of some data that answers, until the node or another copy is back.
	NodeLossPauses NodeLoss = "pauses"
	// NodeLossAlreadyPaused changes nothing at first: the phase itself stops all copies of some data.
	NodeLossAlreadyPaused NodeLoss = "already-paused"
)

// IfNodeIsLost returns what the loss of one more node does while the phase runs: a node has at most one
// copy of any data. It is empty where the phase has no impact.
func (p ForecastPhase) IfNodeIsLost() NodeLoss {
	switch {
	case p.FewestCopies == nil:
		return ""
	case *p.FewestCopies > 1:
		return NodeLossTolerated
	case *p.FewestCopies == 1:
		return NodeLossPauses
	default:
		return NodeLossAlreadyPaused
	}
}

// ForecastTotals are the sums of a forecast.
type ForecastTotals struct {
	Actions int `json:"actions"`
	// PodsNow, PodsAtPeak and PodsAtEnd count all pods of the cluster.
	PodsNow     int `json:"podsNow"`
	PodsAtPeak  int `json:"podsAtPeak"`
	PodsAtEnd   int `json:"podsAtEnd"`
	PodsCreated int `json:"podsCreated"`
	PodsDeleted int `json:"podsDeleted"`
	// GroupsRemoved counts the process groups that are removed, replaced ones included.
	GroupsRemoved int `json:"groupsRemoved"`
	// ProcessesRestarted counts restarts by command, and MostAtOnce the largest number by one.
	ProcessesRestarted int `json:"processesRestarted"`
	MostAtOnce         int `json:"mostAtOnce"`
	// Recoveries counts how often commits stop, and PausedSeconds adds up for how long.
	Recoveries    int     `json:"recoveries"`
	PausedSeconds float64 `json:"pausedSeconds"`
	// MovedBytes is how much data distribution writes.
	MovedBytes int64 `json:"movedBytes"`
}

// ForecastWait is what the passes wait for.
type ForecastWait struct {
	Stage plan.StageName `json:"stage"`
	inspect.HoldRecord
	// Gates are those of the checks that refused.
	Gates []plan.Gate `json:"gates,omitempty"`
	// Seconds is how long the passes wait for it in all.
	Seconds float64 `json:"seconds"`
}

// ForecastAssumptions is what durations rest on.
type ForecastAssumptions struct {
	// PodStartSeconds is how long a new pod takes until it runs.
	PodStartSeconds float64 `json:"podStartSeconds"`
	// MoveBytesPerSecond is how fast data moves.
	MoveBytesPerSecond int64 `json:"moveBytesPerSecond"`
	// NodesUnread is why nodes could not be read, which are assumed to be there; absent where they were.
	NodesUnread string `json:"nodesUnread,omitempty"`
}

// Phase returns the phase of a stage and a kind of action; nil for none.
func (f *Forecast) Phase(stage plan.StageName, kind string) *ForecastPhase {
	if f == nil {
		return nil
	}
	at := slices.IndexFunc(f.Phases, func(p ForecastPhase) bool { return p.Stage == stage && p.Kind == kind })
	if at < 0 {
		return nil
	}
	return &f.Phases[at]
}

// Simulations are how the passes end while processes, pods and nodes fail at random.
type Simulations struct {
	// Unavailable is why the cluster cannot be simulated; null if it can.
	Unavailable *NoForecast `json:"unavailable,omitempty"`
	// Complete counts the simulations that completed.
	Complete int `json:"complete"`
	// MedianSeconds and SlowSeconds are the 50th and the 95th percentile of the durations of those.
	MedianSeconds float64 `json:"medianSeconds"`
	SlowSeconds   float64 `json:"slowSeconds"`
	// MostPausedSeconds is for how long commits were paused in the worst simulation.
	MostPausedSeconds float64 `json:"mostPausedSeconds"`
	// FewestCopies is the smallest number of copies of all data on processes that answered.
	FewestCopies int `json:"fewestCopies"`
	// Worst is the seed of the worst simulation: one that does not complete, else the one with the
	// fewest copies, the longest pause, the longest duration. 0 without simulations.
	Worst uint64       `json:"worst"`
	Runs  []Simulation `json:"runs"`
}

// Simulation is one of several.
type Simulation struct {
	Seed uint64      `json:"seed"`
	End  ForecastEnd `json:"end"`
	// Seconds is how long it takes until everything essential is done.
	Seconds float64 `json:"seconds"`
	// PausedSeconds adds up for how long commits were paused.
	PausedSeconds float64 `json:"pausedSeconds"`
	// FewestCopies is the smallest number of copies of all data on processes that answered.
	FewestCopies int `json:"fewestCopies"`
	// Story is what failed, and what passes did that has an impact on the database.
	Story []SimulatedEvent `json:"story"`
}

// SimulatedEvent is one line of the story of a simulation.
type SimulatedEvent struct {
	// Seconds is when it happens, after the first pass began.
	Seconds float64 `json:"seconds"`
	What    string  `json:"what"`
}

// Summed returns the simulations with their sums.
func (s Simulations) Summed() Simulations {
	var durations []float64
	for i, run := range s.Runs {
		if run.End == ForecastComplete {
			s.Complete++
			durations = append(durations, run.Seconds)
		}
		s.MostPausedSeconds = max(s.MostPausedSeconds, run.PausedSeconds)
		if i == 0 || run.FewestCopies < s.FewestCopies {
			s.FewestCopies = run.FewestCopies
		}
	}
	slices.Sort(durations)
	s.MedianSeconds, s.SlowSeconds = percentile(durations, 50), percentile(durations, 95)
	if len(s.Runs) > 0 {
		s.Worst = slices.MaxFunc(s.Runs, worse).Seed
	}
	return s
}

// worse orders simulations, the worst last.
func worse(a, b Simulation) int {
	bad := func(s Simulation) int {
		if s.End == ForecastComplete {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(bad(a), bad(b)), cmp.Compare(b.FewestCopies, a.FewestCopies), cmp.Compare(a.PausedSeconds, b.PausedSeconds), cmp.Compare(a.Seconds, b.Seconds))
}

// percentile returns the p-th percentile of sorted values by the nearest rank; 0 of none.
func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}

// Run returns the simulation with a seed; nil for none.
func (s Simulations) Run(seed uint64) *Simulation {
	at := slices.IndexFunc(s.Runs, func(r Simulation) bool { return r.Seed == seed })
	if at < 0 {
		return nil
	}
	return &s.Runs[at]
}
