package reconcile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Event is one thing that happened in a pass. Outputs are rendered from events only.
//
//sumtype:decl
type Event interface{ event() }

// Outcome is how a stage or a whole pass ended. A pass ends as its worst stage did.
type Outcome int

// The outcomes, from best to worst.
const (
	Done    Outcome = iota // nothing was needed
	Changed                // everything needed was done, or, in a preview, would be done
	Waiting                // time will clear what is left
	Blocked                // manual intervention is required
	Failed                 // something went wrong
)

var outcomeNames = [...]string{"done", "changed", "waiting", "blocked", "failed"}

// String returns the outcome as one word.
func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText writes the outcome as its word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the word of an outcome from a stored document.
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("invalid outcome of a pass: %q", text)
	}
	*o = Outcome(i)
	return nil
}

type (
	// PassStarted opens a pass, or another round of one that starts over.
	PassStarted struct {
		// Preview is true when nothing will be changed.
		Preview bool
		// Round counts from 1; a pass starts over when a stage changed what earlier ones rely on.
		Round int
		// Stages are the names of the stages in the order they run.
		Stages []plan.StageName
	}
	// Observing announces that facets are about to be read, which can take a while.
	Observing struct {
		Stage  plan.StageName
		Facets plan.Facet
	}
	// Observed carries what was read. Receivers may keep the snapshot, and must not change it.
	Observed struct {
		Facets   plan.Facet
		Snapshot plan.Snapshot
	}
	// GatesChecked carries the checks that are evaluated once, before the first change.
	GatesChecked struct{ Checks []plan.Check }
	// StageDecided carries what a stage decided, before any of it runs.
	StageDecided struct {
		Stage plan.StageName
		plan.Decision
		// Provisional names the earlier stages whose results this decision would
		// read in a real run. Empty outside previews.
		Provisional []plan.StageName
	}
	// LeaseTaken marks the moment from which this run alone acts on the cluster.
	LeaseTaken struct {
		// Stage decides again, since what it observed may be out of date.
		Stage plan.StageName
		// Early is true if nothing was observed yet: Stage is the first one then.
		Early bool
	}
	// LockTaken marks the moment from which only fresh facts count.
	LockTaken struct{ Stage plan.StageName }
	// ActionStarted announces one action; an action can take a minute.
	ActionStarted struct {
		Stage  plan.StageName
		Action plan.Action
	}
	// ActionDone reports one action that ran.
	ActionDone struct {
		Stage  plan.StageName
		Action plan.Action
		Err    error
	}
	// StageDone closes a stage.
	StageDone struct {
		Stage   plan.StageName
		Outcome Outcome
		Reason  string
		// Nature is what ends the wait of a stage that is not done.
		Nature plan.Nature
		// Left is how long after the observation the wait ends at the earliest, where it ends by time
		// alone; 0 otherwise.
		Left time.Duration
		// Err is the error that ended the stage; nil for a hold and for a stage that is done.
		Err error
		// Follows is true when the stage waits for what other stages do; see plan.Hold.
		Follows bool
		// Aside is true when it is blocked for some subjects alone; see plan.Hold.
		Aside bool
		// Interrupted is true when the context ended before the stage did.
		Interrupted bool
	}
	// PassDone closes the pass.
	PassDone struct {
		Outcome Outcome
		// RetryAfter is the longest wait of a stage; 0 for none.
		RetryAfter time.Duration
		// Acted counts the actions that ran without an error.
		Acted int
		// Planned counts the actions that a preview would run.
		Planned int
		// Housekeeping is what a later pass completes. It is part of no outcome.
		Housekeeping []plan.Housekeeping
		// Failures are the errors of the stages that failed.
		Failures []error
		// Interrupted is true when the context ended before the pass did.
		Interrupted bool
		// Stopped is what ended the pass early: a *HeldError, a *RefusedError, a
		// *BeyondPlanError, an *UnreachableError, an *UnrecordedError, an *InvalidSpecError, or nil.
		Stopped error
	}
)

// Settled reports whether nothing is left: neither work, nor anything to wait for, nor
// housekeeping.
func (p PassDone) Settled() bool { return p.Outcome == Done && len(p.Housekeeping) == 0 }

// TidyAfter is how long the housekeeping waits at least; 0 when unknown and for none.
func (p PassDone) TidyAfter() time.Duration {
	var longest time.Duration
	for _, h := range p.Housekeeping {
		longest = max(longest, h.RetryAfter)
	}
	return longest
}

func (PassStarted) event()   {}
func (Observing) event()     {}
func (Observed) event()      {}
func (GatesChecked) event()  {}
func (StageDecided) event()  {}
func (LeaseTaken) event()    {}
func (LockTaken) event()     {}
func (ActionStarted) event() {}
func (ActionDone) event()    {}
func (StageDone) event()     {}
func (PassDone) event()      {}

// askKnown evaluates refusals that facts show already, at the first decision that changes more
// than the status or waits. A preview reports them and continues.
func (p *Pass) askKnown(ctx context.Context, stage plan.Stage, d plan.Decision) error {
	if p.Known == nil || p.refusalsEvaluated || !wantsMore(d) {
		return nil
	}
	if err := p.refresh(ctx, stage, plan.ClusterResource); err != nil {
		return err
	}
	if err := p.refresh(ctx, stage, p.KnownReads(p.snap)); err != nil {
		return err
	}
	p.refusalsEvaluated = true
	checks := p.Known(p.snap)
	if len(checks) == 0 {
		return nil
	}
	p.Report(GatesChecked{Checks: checks})
	for _, c := range checks {
		if !c.OK {
			return p.refuse(&RefusedError{Check: c})
		}
	}
	return nil
}

// wantsMore reports whether a decision does more than update the status.
func wantsMore(d plan.Decision) bool {
	return d.Hold != nil || slices.ContainsFunc(d.Actions, func(a plan.Action) bool { return !plan.RecordsKind(plan.KindOf(a)) })
}

// refuse ends a pass with a refusal. A preview has reported it, and continues: the planned
// actions are still worth knowing.
func (p *Pass) refuse(refused *RefusedError) error {
	if p.Actor != nil {
		p.result.Stopped = refused // also where the status was written already
		return refused
	}
	p.result.Failures = append(p.result.Failures, refused)
	p.result.Outcome = max(p.result.Outcome, Blocked)
	return nil
}

// NextSeed returns the seed of the next pass after an event: another one once process groups were added.
// The same seed draws the same IDs, also those of groups that were removed in between, and a command that
// names a removed group must not find another one. Until then passes and previews share a seed, so that
// the groups that were shown are those that are added.
func NextSeed(seed uint64, e Event) uint64 {
	if done, is := e.(ActionDone); !is || done.Err != nil || !isAddition(done.Action) {
		return seed
	}
	return rand.NewPCG(seed, 0).Uint64() // an ID is a name, not a secret
}

func isAddition(a plan.Action) bool {
	_, is := a.(plan.AddGroups)
	return is
}
