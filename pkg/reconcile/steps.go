package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Step is a part of a change that no stage decides.
type Step struct {
	// Kind is the kind of step, Subject what it changes, Words its description in one line.
	Kind, Subject, Words string
	// Do carries the step out and proves that it had its effect.
	Do func(ctx context.Context) error
}

// Steps carries out steps in order: each one is read back before the next one begins.
type Steps struct {
	// Actor takes the Lease and releases it; nil where there is no cluster, and so no other run.
	Actor Actor
	// Held returns an error once the Lease was lost. It is called before each step; nil where none is taken.
	Held func(ctx context.Context) error
	// Prepare reads everything again, under the Lease, and returns the steps. It returns an error if anything is not as
	// it was approved.
	Prepare func(ctx context.Context) ([]Step, error)
	// Report is called at the end of each step.
	Report func(step Step, began time.Time, err error)
	// Now returns the time.
	Now func() time.Time
	// Apart is true for steps that do not build on each other: one that fails is reported, and ends none of the others.
	Apart bool
}

// Run takes the Lease, prepares the steps and carries them out.
func (s Steps) Run(ctx context.Context) (err error) {
	if s.Actor != nil {
		if err := s.Actor.Begin(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Actor.End(context.WithoutCancel(ctx))) }()
	}
	steps, err := s.Prepare(ctx)
	if err != nil {
		return err
	}
	return s.CarryOut(ctx, steps)
}

// CarryOut carries out steps under the Lease that is held. The error is that of a step which ends the others, or
// why no further one may begin.
func (s Steps) CarryOut(ctx context.Context, steps []Step) error {
	for _, step := range steps {
		if err := s.mayGoOn(ctx); err != nil {
			return err
		}
		began := s.Now()
		err := step.Do(ctx)
		s.Report(step, began, err)
		if err != nil && !s.Apart {
			return fmt.Errorf("%s: %w", step.Kind, err)
		}
	}
	return nil
}

func (s Steps) mayGoOn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.Held == nil {
		return nil
	}
	return s.Held(ctx)
}
