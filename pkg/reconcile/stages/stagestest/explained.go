package stagestest

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Explained asserts that a decision is explained: actions and holds have a reason, and each check
// has a question and evidence.
func Explained(t *testing.T, d plan.Decision) {
	t.Helper()
	if len(d.Actions) > 0 && d.Why == "" {
		t.Errorf("acts without a reason: %v", Described(d))
	}
	if d.Hold != nil && d.Hold.Reason == "" {
		t.Error("holds without a reason")
	}
	for _, c := range d.Checks {
		if c.Question == "" || c.Evidence == "" {
			t.Errorf("a check without question or evidence: %+v", c)
		}
	}
}
