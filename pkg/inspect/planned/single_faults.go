package planned

import (
	"cmp"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SingleFaults are how the passes end with one fault at each of their steps.
type SingleFaults struct {
	// Unavailable is why the cluster cannot be simulated; null if it can.
	Unavailable *NoForecast `json:"unavailable,omitempty"`
	// Complete, Stuck and Broken count the histories that completed, that did not, and in which an invariant did not hold.
	Complete int `json:"complete"`
	Stuck    int `json:"stuck"`
	Broken   int `json:"broken"`
	// DataLost counts the histories in which data was lost.
	DataLost int `json:"dataLost"`
	// MostPausedSeconds is for how long commits were paused in the worst history.
	MostPausedSeconds float64 `json:"mostPausedSeconds"`
	// FewestCopies is the smallest number of copies of all data on processes that answered.
	FewestCopies int `json:"fewestCopies"`
	// Worst is the index of the worst history: one in which an invariant did not hold, one that does not complete, else
	// the one with the fewest copies, the longest pause, the longest duration. Null without histories.
	Worst     *int          `json:"worst"`
	Histories []SingleFault `json:"histories"`
}

// SingleFault is the history of one fault.
type SingleFault struct {
	// Fault identifies what goes wrong, and What describes it.
	Fault string `json:"fault"`
	What  string `json:"what"`
	// Group is the process group that it hits, and Node that of its pod; absent for what all process groups depend on.
	Group v1beta2.ProcessGroupID `json:"group,omitempty"`
	Node  string                 `json:"node,omitempty"`
	// Pass is the number of the pass in which it happens: before the first action of a kind that a stage takes, or,
	// without a stage, before the pass observes anything.
	Pass   int            `json:"pass"`
	Stage  plan.StageName `json:"stage,omitempty"`
	Action string         `json:"action,omitempty"`
	// FaultSeconds is when it happens, after the first pass began.
	FaultSeconds float64     `json:"faultSeconds"`
	End          ForecastEnd `json:"end"`
	// Seconds is how long it takes until everything essential is done.
	Seconds float64 `json:"seconds"`
	// PausedSeconds adds up for how long commits were paused.
	PausedSeconds float64 `json:"pausedSeconds"`
	// FewestCopies is the smallest number of copies of all data on processes that answered.
	FewestCopies int `json:"fewestCopies"`
	// Violations are the invariants that did not hold; absent for none. The history ends with the first.
	Violations []BrokenInvariant `json:"violations,omitempty"`
	// Story is what passes did that has an impact on the database, and what they wait for in the end; that of the worst
	// history, and of those that do not complete.
	Story []SimulatedEvent `json:"story,omitempty"`
}

// BrokenInvariant is an invariant that did not hold.
type BrokenInvariant struct {
	// Invariant is its code, and Promise what has to hold.
	Invariant string `json:"invariant"`
	Promise   string `json:"promise"`
	// Evidence is what was wrong.
	Evidence string `json:"evidence"`
}

// losesData is the code of the invariant that no data is lost.
const losesData = "loses-data"

// Summed returns the histories with their sums.
func (s SingleFaults) Summed() SingleFaults {
	for i, h := range s.Histories {
		switch {
		case len(h.Violations) > 0:
			s.Broken++
		case h.End == ForecastComplete:
			s.Complete++
		default:
			s.Stuck++
		}
		if slices.ContainsFunc(h.Violations, func(v BrokenInvariant) bool { return v.Invariant == losesData }) {
			s.DataLost++
		}
		s.MostPausedSeconds = max(s.MostPausedSeconds, h.PausedSeconds)
		if i == 0 || h.FewestCopies < s.FewestCopies {
			s.FewestCopies = h.FewestCopies
		}
		if s.Worst == nil || worseFault(s.Histories[*s.Worst], h) < 0 {
			s.Worst = &i
		}
	}
	for i := range s.Histories {
		if h := &s.Histories[i]; h.End == ForecastComplete && i != *s.Worst {
			h.Story = nil
		}
	}
	return s
}

// WorstHistory returns the worst history; nil without one, as in a saved document that names none of its own.
func (s SingleFaults) WorstHistory() *SingleFault {
	if s.Worst == nil || *s.Worst < 0 || *s.Worst >= len(s.Histories) {
		return nil
	}
	return &s.Histories[*s.Worst]
}

// worseFault orders histories, the worst last.
func worseFault(a, b SingleFault) int {
	bad := func(h SingleFault) int {
		switch {
		case len(h.Violations) > 0:
			return 2
		case h.End != ForecastComplete:
			return 1
		default:
			return 0
		}
	}
	return cmp.Or(cmp.Compare(bad(a), bad(b)), cmp.Compare(b.FewestCopies, a.FewestCopies), cmp.Compare(a.PausedSeconds, b.PausedSeconds), cmp.Compare(a.Seconds, b.Seconds))
}
