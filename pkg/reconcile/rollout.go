package reconcile

// RolloutKind is what a change of the spec does to process groups.
type RolloutKind string

// The kinds, each covering the following ones.
const (
	RolloutUpgrade RolloutKind = "upgrade"
	// RolloutPods recreates pods, or replaces their process groups, because of another pod spec.
	RolloutPods RolloutKind = "pods"
	// RolloutProcesses restarts processes with other arguments.
	RolloutProcesses RolloutKind = "processes"
	// RolloutCoordinators moves coordinators off process groups that are removed or excluded.
	RolloutCoordinators RolloutKind = "coordinators"
)

// Rollout is a change that reaches the process groups of a cluster one after the other, and how far
// it is. It is derived from what was observed, so that every run and every user sees the same.
type Rollout struct {
	Kind RolloutKind `json:"kind"`
	// From and To are the versions of an upgrade; empty for other kinds.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Phases are in the order in which the change reaches them.
	Phases []RolloutPhase `json:"phases"`
}

// RolloutPhase is how many of the processes, or pods, the change has reached.
type RolloutPhase struct {
	Name RolloutPhaseName `json:"name"`
	// Done is null when unknown: the database lists no processes.
	Done  *int `json:"done"`
	Total int  `json:"total"`
}

// RolloutPhaseName is what the change reaches together.
type RolloutPhaseName string

// The phases.
const (
	RolloutOfProcesses   RolloutPhaseName = "processes"
	RolloutOfTransaction RolloutPhaseName = "transaction-pods"
	RolloutOfStorage     RolloutPhaseName = "storage-pods"
	// RolloutOfCoordinators are the coordinators on process groups that stay, of those that are desired.
	RolloutOfCoordinators RolloutPhaseName = "coordinators"
	// RolloutOfAnswers are the coordinators that answer.
	RolloutOfAnswers RolloutPhaseName = "answers"
)

// State returns how far a phase is; only what was counted is done. What follows a phase that is not done is pending until it begins.
func (r Rollout) State(i int) PhaseState {
	p := r.Phases[i]
	switch {
	case p.Done == nil:
		return PhaseUnknown
	case *p.Done >= p.Total:
		return PhaseDone
	case *p.Done == 0 && i > 0 && r.State(i-1) != PhaseDone:
		return PhasePending
	default:
		return PhaseRunning
	}
}
