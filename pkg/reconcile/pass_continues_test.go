package reconcile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAPassThatContinuesObservesOnceForItsFirstAction(t *testing.T) {
	for name, tc := range map[string]struct {
		continues bool
		want      []string
	}{
		"one that continues": {true, []string{"record, database"}},
		"another one":        {false, []string{"record, database", "record, database"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{fact: "storm"}
			done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Actor: l, Continues: tc.continues})
			if done.Outcome != reconcile.Changed || l.ended != 1 {
				t.Errorf("%s, ended %d times", done.Outcome, l.ended)
			}
			if diff := cmp.Diff(tc.want, l.observed); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
		})
	}
}

// What was true before the Lease is not acted on: it is taken before the first look.
func TestAPassThatContinuesDecidesOnFactsUnderTheLease(t *testing.T) {
	l := &ledger{fact: "storm"}
	l.onBegin = func() {
		if len(l.observed) > 0 {
			t.Errorf("observed %v before the Lease", l.observed)
		}
		l.fact = "fine"
	}
	run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Actor: l, Continues: true})
	if len(l.acted) != 0 {
		t.Errorf("acted on facts older than the Lease: %v", l.acted)
	}
}

// A pass that continues and has nothing to do is not stopped by what would stop its first action,
// and one that has something to do is.
func TestAPassThatContinuesNeedsTheLeaseOnlyToAct(t *testing.T) {
	refused := func(context.Context) ([]plan.Check, error) {
		return []plan.Check{{Question: "is no operator here?", Gate: plan.GateOperator, Evidence: "an operator is"}}, nil
	}
	unresponsive := func(context.Context) ([]plan.Check, error) { return nil, errors.New("no answer") }
	for name, tc := range map[string]struct {
		held  error
		gates func(context.Context) ([]plan.Check, error)
	}{
		"another run holds it":              {held: &reconcile.HeldError{What: "lease", Holder: "another run"}},
		"a gate refuses":                    {gates: refused},
		"the gates cannot be evaluated now": {gates: unresponsive},
	} {
		for fact, acts := range map[string]bool{"fine": false, "storm": true} {
			t.Run(name+", "+fact, func(t *testing.T) {
				l := &ledger{fact: fact, beginErr: tc.held}
				done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Actor: l, Gates: tc.gates, Continues: true})
				if len(l.acted) != 0 || (done.Stopped != nil) != acts {
					t.Errorf("%s, stopped by %v, did %v", done.Outcome, done.Stopped, l.acted)
				}
			})
		}
	}
}

func TestAPreviewOfAContinuingPassTakesNoLease(t *testing.T) {
	l := &ledger{fact: "storm", beginErr: errors.New("the Lease was taken")}
	if done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("One", "storm", unlocked)}, Observer: l, Continues: true}); done.Stopped != nil {
		t.Error(done.Stopped)
	}
}
