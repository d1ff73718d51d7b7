package reconcile

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// HeldError means that another run may be active on the cluster.
type HeldError struct {
	// What is held: "lease" or "database lock".
	What string
	// Holder is who holds it, as the holder wrote it.
	Holder string
	// Until is when it expires unless it is renewed; zero when unknown.
	Until time.Time
}

func (e *HeldError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("the %s is held by %s", e.What, e.Holder)
	}
	return fmt.Sprintf("the %s is held by %s until %s", e.What, e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// ActiveOperationError means that another run carries out an operation on the cluster.
type ActiveOperationError struct{ Operation Operation }

func (e *ActiveOperationError) Error() string {
	words := e.Operation.Text()
	if e.Operation.ID != "" {
		words = e.Operation.ID + ": " + words
	}
	return "another operation is active: " + words + ", since " + e.Operation.Since.UTC().Format(time.RFC3339)
}

// RefusedError means that a safety gate refused.
type RefusedError struct{ Check plan.Check }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: %s", e.Check.Gate, e.Check.Text())
}

// BeyondPlanError means that the pass decided on an action which was not approved, or that the
// cluster state has changed since the approval.
type BeyondPlanError struct {
	Stage  plan.StageName
	Action plan.Action
	// Moved is how the cluster state has changed; empty for an action that was not approved.
	Moved string
	// Recreated is true if the resource is another one of the same name: no approval continues a run that
	// began with the earlier one.
	Recreated bool
}

func (e *BeyondPlanError) Error() string {
	if e.Moved != "" {
		return fmt.Sprintf("%s: %s", plan.GatePlan, e.Moved)
	}
	if plan.LosesData(e.Action) {
		return fmt.Sprintf("%s: %s would %s; that is irreversible and was not confirmed by name", plan.GatePlan, e.Stage, e.Action.Describe())
	}
	return fmt.Sprintf("%s: %s would %s, which is not in the approved plan", plan.GatePlan, e.Stage, e.Action.Describe())
}

// UnrecordedError means that what the pass observed could not be stored: no later stage may decide by an outdated status. It
// would restart again what has restarted, or replace what has come back.
type UnrecordedError struct{ Err error }

func (e *UnrecordedError) Error() string {
	return e.Err.Error() + "; no later stage decides by an outdated status"
}

// Unwrap returns the cause.
func (e *UnrecordedError) Unwrap() error { return e.Err }

// UnreachableError means that the Kubernetes API is not reachable, so no stage can decide.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// InvalidSpecError means that the spec is invalid: no stage may act on it.
type InvalidSpecError struct{ Err error }

func (e *InvalidSpecError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidSpecError) Unwrap() error { return e.Err }

// NotYetError means that an action was refused for a reason that ends by itself. What was refused
// has changed nothing, and a later pass may do it.
type NotYetError struct {
	Err error
	// Hold is what the stage waits for; nil where only the error is known.
	Hold *plan.Hold
}

func (e *NotYetError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotYetError) Unwrap() error { return e.Err }

// AdmissionError means that the API server did not accept an object, although the user has the permission to write
// it. It does not unwrap to the error of the API server, whose code is that of a missing permission.
type AdmissionError struct{ Refusal plan.Refusal }

func (e *AdmissionError) Error() string { return e.Refusal.Text() }

// refusalsIn returns the refusals in an error; none if anything else went wrong as well.
func refusalsIn(err error) []plan.Refusal {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		var all []plan.Refusal
		for _, each := range several.Unwrap() {
			found := refusalsIn(each)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	if refused, is := errors.AsType[*AdmissionError](err); is {
		return []plan.Refusal{refused.Refusal}
	}
	return nil
}

// gatesError means that the gates could not be evaluated, so that nothing may be changed.
type gatesError struct{ err error }

func (e *gatesError) Error() string {
	return fmt.Sprintf("check the gates before the first change: %s", e.err)
}

func (e *gatesError) Unwrap() error { return e.err }

// KeptError means that the Lease or the lock could not be released after a pass. Other runs wait
// until it expires.
type KeptError struct{ Err error }

func (e *KeptError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *KeptError) Unwrap() error { return e.Err }

// NatureOf returns what ends a wait that an error caused: another run, or a reason that ends by
// itself, is ordinary; an action that was not approved waits for an approval.
func NatureOf(err error) plan.Nature {
	var (
		held    *HeldError
		notYet  *NotYetError
		beyond  *BeyondPlanError
		refused *RefusedError
	)
	switch {
	case errors.As(err, &held), errors.As(err, &notYet):
		return plan.Ordinary
	case errors.As(err, &beyond):
		return plan.Approval
	case errors.As(err, &refused):
		return refused.Check.Nature()
	default:
		return plan.Problem
	}
}
