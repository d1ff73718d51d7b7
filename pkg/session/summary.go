package session

import (
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Summary records how each stage ended in the newest pass that reached it, in the order of the
// stages. After an interrupted pass, the earlier results of the stages that it did not reach
// remain.
type Summary struct {
	Ends []stageEnd
	next int // index of the stage that ends next
	hold *plan.Hold
}

type stageEnd struct {
	outcome reconcile.Outcome
	stage   plan.StageName
	reason  string
	follows bool
	aside   bool       // see plan.Hold
	hold    *plan.Hold // nil for none
}

func (s *Summary) Report(e reconcile.Event) {
	switch e := e.(type) {
	case reconcile.PassStarted:
		if len(s.Ends) != len(e.Stages) {
			s.Ends = make([]stageEnd, len(e.Stages))
		}
		s.next = 0
	case reconcile.ActionDone:
		if e.Err == nil { // the stage no longer waits
			s.set(stageEnd{outcome: reconcile.Changed, stage: e.Stage})
		}
	case reconcile.StageDone:
		if !e.Interrupted {
			s.set(stageEnd{outcome: e.Outcome, stage: e.Stage, reason: e.Reason, follows: e.Follows, aside: e.Aside, hold: s.hold})
		}
		s.next++
	case reconcile.PassDone:
		if !e.Interrupted {
			clear(s.Ends[min(s.next, len(s.Ends)):]) // stages that did not run do not wait
		}
	case reconcile.StageDecided:
		s.hold = e.Hold
	case reconcile.Observing, reconcile.Observed, reconcile.GatesChecked, reconcile.LeaseTaken,
		reconcile.LockTaken, reconcile.ActionStarted: // these end no stage
	}
}

func (s *Summary) set(end stageEnd) {
	for len(s.Ends) <= s.next {
		s.Ends = append(s.Ends, stageEnd{})
	}
	s.Ends[s.next] = end
}

// worst returns the stage to report: the first of those with the worst end.
func (s *Summary) worst() stageEnd {
	var worst stageEnd
	for _, end := range s.Ends {
		if end.weight() > worst.weight() {
			worst = end
		}
	}
	return worst
}

// weight orders the ends of stages. Those that only follow others come last among their like; what is
// blocked for some process groups alone comes before these, and after all that a pass can wait for.
func (e stageEnd) weight() int {
	const each = 3
	switch {
	case e.aside:
		return each*int(reconcile.Waiting) + 1
	case e.follows:
		return each * int(e.outcome)
	default:
		return each*int(e.outcome) + each - 1
	}
}

// Key identifies why the pass ended as it did: the stage and its hold, or the error.
func (s *Summary) Key(done reconcile.PassDone) string {
	if worst := s.worst(); done.Stopped == nil && worst.reason != "" && worst.hold != nil {
		return string(worst.stage) + " " + ui.HoldKey(worst.hold)
	}
	return s.Text(done)
}

// Hold returns what the stage that Text names waits for; nil for none.
func (s *Summary) Hold(done reconcile.PassDone) *plan.Hold {
	if done.Stopped != nil {
		return nil
	}
	return s.worst().hold
}

// Text returns why the pass ended as it did; empty if nothing is left to do.
func (s *Summary) Text(done reconcile.PassDone) string {
	worst := s.worst()
	switch {
	case done.Stopped != nil:
		return exit.Explain(done.Stopped)
	case worst.reason != "":
		return fmt.Sprintf("%s: %s", worst.stage, worst.reason)
	case len(done.Failures) > 0:
		return exit.Explain(errors.Join(done.Failures...))
	default:
		return ""
	}
}
