package reconcile

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// HeldError means that someone else may act on the cluster right now.
type HeldError struct {
	// What is held: "lease" or "database lock".
	What string
	// Holder is who holds it, in its own words.
	Holder string
	// Until is when it runs out unless it is renewed; zero when unknown.
	Until time.Time
}

func (e *HeldError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("the %s is held by %s", e.What, e.Holder)
	}
	return fmt.Sprintf("the %s is held by %s until %s", e.What, e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// RefusedError means that a safety gate says no.
type RefusedError struct{ Check plan.Check }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: %s", e.Check.Gate, e.Check.Words())
}

// BeyondPlanError means that the pass wants an action which nobody approved, or that what
// was approved is not about the world as it is now.
type BeyondPlanError struct {
	Stage  plan.StageName
	Action plan.Action
	// Moved says in which way the world has moved; empty where it is about an action.
	Moved string
}

func (e *BeyondPlanError) Error() string {
	if e.Moved != "" {
		return fmt.Sprintf("%s: %s", plan.GatePlan, e.Moved)
	}
	if plan.LosesData(e.Action) {
		return fmt.Sprintf("%s: %s wants to %s; that cannot be taken back, and nobody has agreed to it by name", plan.GatePlan, e.Stage, e.Action.Describe())
	}
	return fmt.Sprintf("%s: %s wants to %s, which the approved plan does not hold", plan.GatePlan, e.Stage, e.Action.Describe())
}

// UnreachableError means that the Kubernetes API could not be asked, so no stage can decide.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// InvalidSpecError means that the spec must not be carried out: no stage may act on it.
type InvalidSpecError struct{ Err error }

func (e *InvalidSpecError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidSpecError) Unwrap() error { return e.Err }

// NotYetError means that an action was refused by something that passes by itself. Nothing
// was changed, and a later pass may do it.
type NotYetError struct{ Err error }

func (e *NotYetError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotYetError) Unwrap() error { return e.Err }

// gatesError means that the gates could not be asked. Nothing may be done on a guess
// about what they would have said.
type gatesError struct{ err error }

func (e *gatesError) Error() string {
	return fmt.Sprintf("asking what has to hold before the first change: %s", e.err)
}

func (e *gatesError) Unwrap() error { return e.err }

// KeptError means that the Lease or the lock could not be given back after a pass.
// Others wait until it runs out.
type KeptError struct{ Err error }

func (e *KeptError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *KeptError) Unwrap() error { return e.Err }
