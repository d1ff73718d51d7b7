package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAPanicInAStageFailsTheStageAndThePassContinues(t *testing.T) {
	l := &ledger{fact: "x"}
	faulty := plan.Stage{Name: "Faulty", Reads: plan.ClusterResource, Decide: func(plan.Snapshot) plan.Decision {
		var groups []string
		return plan.Decision{Why: groups[3]}
	}}
	done, events := run(t, reconcile.Pass{Stages: []plan.Stage{faulty, stage("Later", "x", unlocked)}, Observer: l, Actor: l})
	if done.Outcome != reconcile.Failed || len(l.acted) != 1 {
		t.Errorf("ends %s after %v, want a failure after the later stage acted", done.Outcome, l.acted)
	}
	fault, ok := errors.AsType[*reconcile.FaultError](errors.Join(done.Failures...))
	if !ok || len(fault.Stack) == 0 || !strings.Contains(fault.Stack[0], "fault_test.go:") {
		t.Fatalf("failures %v, want one that names this file", done.Failures)
	}
	for _, e := range events {
		if s, ok := e.(reconcile.StageDone); ok && s.Stage == "Faulty" && !strings.Contains(s.Reason, "index out of range") {
			t.Errorf("the stage's reason is %q", s.Reason)
		}
	}
}

// clumsy panics on every action.
type clumsy struct{ *ledger }

func (clumsy) Act(context.Context, plan.Action) error { panic("no such thing") }

func TestAPanicInAnActionFailsItAndReleasesTheLease(t *testing.T) {
	l := &ledger{fact: "x"}
	done, _ := run(t, reconcile.Pass{Stages: []plan.Stage{stage("First", "x", unlocked)}, Observer: l, Actor: clumsy{l}})
	if done.Outcome != reconcile.Failed || l.ended != 1 || done.Acted != 0 {
		t.Errorf("ends %s, released %d times, counts %d actions", done.Outcome, l.ended, done.Acted)
	}
}
