package reconcile

import (
	"context"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Operation is a command that runs passes until its goal is reached, or carries out steps. It is stored with the Lease from
// its first change to its end, and stays there while it waits between two passes: the Lease itself
// then is free.
type Operation struct {
	// ID is the ID of the run, as in all its output and audit lines; empty for one of an older release.
	ID string `json:"id,omitempty"`
	// UID is the UID of the cluster; empty for one of an older release, and for a backup or a restore.
	UID types.UID `json:"uid,omitempty"`
	// Command is the command with the flags that affect what it does: "replace sample storage-1 --wait".
	Command string `json:"command"`
	// Holder identifies the run: user, host, process, and the reason given.
	Holder string `json:"holder"`
	// User is the user and host of the run, as shown to users; empty for one of an older release.
	User string `json:"user,omitempty"`
	// Reason is the text of --reason; empty without one.
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	// Seen is when the run last reported that the operation is active.
	Seen time.Time `json:"seen"`
	// Progress is how far it was then.
	Progress OperationProgress `json:"progress"`
}

// OperationAbort is a request to end an operation.
type OperationAbort struct {
	// ID is the ID of the operation.
	ID string `json:"id"`
	// By is the user and host that requested it.
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// Text returns the command, who runs it and why, as text for users.
func (o Operation) Text() string {
	words := o.Command + ", by " + o.By()
	if o.Reason != "" && o.User != "" {
		words += " (" + o.Reason + ")"
	}
	return words
}

// By returns who runs it, as text for users.
func (o Operation) By() string {
	if o.User == "" {
		return o.Holder
	}
	return o.User
}

// UserOf returns the user and host of the holder of a Lease.
func UserOf(holder string) string {
	who, _, _ := strings.Cut(holder, " ")
	return who
}

// A run reports every OperationRenewal that its operation is active, also while it waits between two
// passes. Without a report for OperationTerm the operation counts as ended: it lives as long as a Lease.
const (
	OperationRenewal = 20 * time.Second
	OperationTerm    = time.Minute
)

// Until returns when the operation counts as ended unless its run reports again.
func (o Operation) Until() time.Time { return o.Seen.Add(OperationTerm) }

// IsActive reports whether the run has reported within OperationTerm. A time in the future is
// that of a machine whose clock is ahead.
func (o Operation) IsActive(now time.Time) bool { return now.Sub(o.Seen) <= OperationTerm }

// OperationKeeper stores the operation to which the passes of an actor belong.
type OperationKeeper interface {
	// OtherOperation returns the active operation of another run; nil for none.
	OtherOperation(ctx context.Context) (*Operation, error)
	// RefuseBesideOthers makes the next changes fail with an ActiveOperationError while another run's
	// operation is active. Without it that is only reported.
	RefuseBesideOthers()
	// SetOperation names the operation. It is stored with the next change of the Lease.
	SetOperation(o Operation)
	// RenewOperation reports that the operation goes on, where it was stored, and its progress changed
	// or OperationRenewal has passed.
	RenewOperation(ctx context.Context, p OperationProgress) error
	// KeepOperation reports that the operation goes on, where it was stored and that is due, while no
	// pass does it by renewing the Lease.
	KeepOperation(ctx context.Context) error
	// AbortRequest returns the request to end this operation; nil for none.
	AbortRequest(ctx context.Context) (*OperationAbort, error)
	// EndOperation removes the operation, where it was stored.
	EndOperation(ctx context.Context) error
}

// Operator is an actor that stores operations.
type Operator interface {
	Operations() OperationKeeper
}

// OperationProgress is how far an operation is: what its run counted, and what it observed. Its run
// stores it with the Lease, and other users compute what can be observed again.
type OperationProgress struct {
	// Passes and Actions count what was carried out.
	Passes  int `json:"passes"`
	Actions int `json:"actions"`
	// Reached and Targets count the process groups, nodes or other objects of the command; both 0 for
	// a command about the whole cluster.
	Reached int `json:"reached"`
	Targets int `json:"targets"`
	// WaitingFor is what the next pass waits for, as text for users; empty during a pass.
	WaitingFor string `json:"waitingFor,omitempty"`
	// Hold is the stable reason of WaitingFor, and HoldSubjects what that is about; empty where it has none.
	Hold         plan.HoldCode `json:"hold,omitempty"`
	HoldSubjects []string      `json:"holdSubjects,omitempty"`
	// AskedAt is since when the run waits for an answer of its user; nil while it does not.
	AskedAt *time.Time `json:"askedAt,omitempty"`
	// ExpectedAt is when everything is done by the forecast; nil without one.
	ExpectedAt *time.Time `json:"expectedAt,omitempty"`
	// Replacements are the process groups that are being replaced, and those that drain and stay in the cluster, the
	// MostReplacements first of ReplacementsTotal.
	Replacements      []Replacement `json:"replacements,omitempty"`
	ReplacementsTotal int           `json:"replacementsTotal,omitempty"`
	// Rollout is the change that is reaching the process groups one after the other; nil for none.
	Rollout *Rollout `json:"rollout,omitempty"`
	// FullyReplicated is whether all data has its copies; nil when unknown.
	FullyReplicated *bool `json:"fullyReplicated,omitempty"`
	// Zones is how many zones may fail without loss of data; nil when unknown.
	Zones *int `json:"zones,omitempty"`
}

// MostReplacements bounds the replacements of an OperationProgress: it is stored in an annotation.
const MostReplacements = 10

// Equal reports whether nothing has changed.
func (p OperationProgress) Equal(other OperationProgress) bool { return reflect.DeepEqual(p, other) }

// Replacement is how far the replacement, or the exclusion, of one process group is.
type Replacement struct {
	// ID is the process group that is removed, or drained.
	ID string `json:"id"`
	// Phases are in their order.
	Phases []Phase `json:"phases"`
	// Since is when the process group was marked for removal; nil for one that stays.
	Since *time.Time `json:"since,omitempty"`
	// Roles are those that it still has; empty when it has none, and when they are unknown.
	Roles []string `json:"roles,omitempty"`
	// LeftBytes is what its storage roles still hold; nil when unknown, and for processes without.
	LeftBytes *int64 `json:"leftBytes,omitempty"`
	// MovedBytes is what was moved since the first sample; nil before the second.
	MovedBytes *int64 `json:"movedBytes,omitempty"`
	// RateBytesPerSecond is measured; nil before the third sample.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond,omitempty"`
	// SoonestSeconds and LatestSeconds are when its data has moved, at the fastest and the slowest that
	// the rate may be; nil while no end can be estimated.
	SoonestSeconds *float64 `json:"soonestSeconds,omitempty"`
	LatestSeconds  *float64 `json:"latestSeconds,omitempty"`
	// StalledSeconds is for how long nothing was moved; nil unless it is stalled.
	StalledSeconds *float64 `json:"stalledSeconds,omitempty"`
	// Blocker is what keeps its successor from starting; nil for nothing.
	Blocker *Blocker `json:"blocker,omitempty"`
}

// Phase is one phase of a replacement.
type Phase struct {
	Name  PhaseName  `json:"name"`
	State PhaseState `json:"state"`
}

// PhaseName is what a phase of a replacement ends with.
type PhaseName string

// The phases of a replacement, in their order.
const (
	// PhaseMarked ends with the mark for removal.
	PhaseMarked PhaseName = "marked"
	// PhaseCreated ends with the pods of the process groups that take its place.
	PhaseCreated PhaseName = "created"
	// PhaseJoined ends once their processes report to the database.
	PhaseJoined PhaseName = "joined"
	// PhaseDrained ends with the proof that nothing depends on the process group.
	PhaseDrained PhaseName = "drained"
	// PhaseDeleted ends once its pod and PVC do not exist.
	PhaseDeleted PhaseName = "deleted"
	// PhaseExcluded ends with the exclusion of a process group that stays in the cluster. PhaseDrained follows.
	PhaseExcluded PhaseName = "excluded"
	// PhaseIncluded ends with its exclusion and its entry in the status.
	PhaseIncluded PhaseName = "included"
)

// PhaseState is how far a phase is.
type PhaseState string

// The states of a phase. Only what was observed is done.
const (
	PhaseDone    PhaseState = "done"
	PhaseRunning PhaseState = "running"
	PhasePending PhaseState = "pending"
	// PhaseSkipped is not required: no process group takes the place, or nothing is drained.
	PhaseSkipped PhaseState = "skipped"
	PhaseUnknown PhaseState = "unknown"
)

// Blocker is what keeps a process group from starting.
type Blocker struct {
	// Group is the process group that does not start.
	Group string `json:"group"`
	// Code is the kind of the problem.
	Code string `json:"code"`
	// Message is what is wrong with its pod, as text for users.
	Message string `json:"message"`
	// Since is when that began; nil when unknown.
	Since *time.Time `json:"since,omitempty"`
}

// State returns the state of a phase; unknown for one that the replacement does not have.
func (r Replacement) State(name PhaseName) PhaseState {
	for _, p := range r.Phases {
		if p.Name == name {
			return p.State
		}
	}
	return PhaseUnknown
}

// TimeLeft is how long an operation still takes.
type TimeLeft struct {
	// Soonest and Latest are the ends of the range. Latest is 0 where it has none.
	Soonest, Latest time.Duration
	// Measured is true for a range by measured rates, and false for a time by the forecast.
	Measured bool
}

// TimeLeft returns how long the operation still takes, and whether that can be estimated. Once data
// moves, the rate that was measured decides, and the forecast counts no more: it assumed another one.
// Nothing is estimated while the operation waits for an answer, or for a pod that does not start.
func (p OperationProgress) TimeLeft(now time.Time) (left TimeLeft, known bool) {
	if p.AskedAt != nil || p.isBlocked() {
		return TimeLeft{}, false
	}
	if moving, remaining := p.draining(); len(moving) > 0 {
		return measured(moving, remaining)
	}
	if p.ExpectedAt == nil || !p.ExpectedAt.After(now) {
		return TimeLeft{}, false
	}
	until := p.ExpectedAt.Sub(now)
	return TimeLeft{Soonest: until, Latest: until}, true
}

func (p OperationProgress) isBlocked() bool {
	for _, r := range p.Replacements {
		if r.Blocker != nil {
			return true
		}
	}
	return false
}

// draining returns the replacements whose data moves, and how many process groups are drained after them.
func (p OperationProgress) draining() (moving []Replacement, remaining int) {
	begun := 0
	for _, r := range p.Replacements {
		switch r.State(PhaseDrained) {
		case PhaseRunning:
			moving, begun = append(moving, r), begun+1
		case PhaseDone, PhaseSkipped:
			begun++
		case PhasePending, PhaseUnknown:
		}
	}
	all := max(p.ReplacementsTotal, p.Targets-p.Reached)
	return moving, max(0, all-begun)
}

// measured returns the range of replacements that move data at the same time. With others after them it
// has no upper end.
func measured(moving []Replacement, remaining int) (left TimeLeft, known bool) {
	left, bounded := TimeLeft{Measured: true}, remaining == 0
	for _, r := range moving {
		switch {
		case r.LeftBytes != nil && *r.LeftBytes == 0:
			known = true // what is still missing is no data
		case r.SoonestSeconds == nil:
			return TimeLeft{}, false
		default:
			known = true
			left.Soonest = max(left.Soonest, seconds(*r.SoonestSeconds))
			if r.LatestSeconds == nil {
				bounded = false
				continue
			}
			left.Latest = max(left.Latest, seconds(*r.LatestSeconds))
		}
	}
	if !bounded {
		left.Latest = 0
	}
	return left, known && left.Soonest > 0
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
