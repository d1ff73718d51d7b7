package reconcile_test

import (
	"errors"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A lost node must not end the passes that move the data of everything else.
func TestWhatIsBlockedForSomeGroupsBlocksThePassOnlyOnceNothingElseGoesOn(t *testing.T) {
	holds := func(name plan.StageName, h plan.Hold) plan.Stage {
		return plan.Stage{Name: name, Reads: plan.ClusterResource, Decide: func(plan.Snapshot) plan.Decision { return plan.Decision{Hold: &h} }}
	}
	stuck := holds("Stuck", plan.Hold{Code: plan.HoldObjectsStuck, Reason: "a node is lost", Manual: true, Aside: true})
	for name, tc := range map[string]struct {
		beside []plan.Stage
		want   reconcile.Outcome
	}{
		"by itself it is blocked":                      {want: reconcile.Blocked},
		"a stage that only follows others is no work":  {beside: []plan.Stage{holds("Sum", plan.Hold{Reason: "not reconciled", Follows: true})}, want: reconcile.Blocked},
		"a stage that waits goes on":                   {beside: []plan.Stage{holds("Waits", plan.Hold{Reason: "data moves"})}, want: reconcile.Waiting},
		"an action is read by the next pass":           {beside: []plan.Stage{stage("Acts", "storm", unlocked)}, want: reconcile.Waiting},
		"what blocks the whole cluster blocks it":      {beside: []plan.Stage{holds("Blocked", plan.Hold{Reason: "contradiction", Manual: true})}, want: reconcile.Blocked},
		"a failure remains a failure of the same pass": {beside: []plan.Stage{stage("Fails", "storm", locked)}, want: reconcile.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{fact: "storm", refuse: map[string]error{locked.Describe(): errors.New("quota exceeded")}}
			done, _ := run(t, reconcile.Pass{Stages: append([]plan.Stage{stuck}, tc.beside...), Observer: l, Actor: l})
			if done.Outcome != tc.want {
				t.Errorf("outcome %s, want %s", done.Outcome, tc.want)
			}
		})
	}
}
