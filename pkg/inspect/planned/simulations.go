package planned

import (
	"cmp"
	"slices"
)

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
