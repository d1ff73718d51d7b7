package inspect

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestARefusalShownAsACheckIsNotListedAsAFailure(t *testing.T) {
	operator := plan.Check{ID: plan.CheckStaysRestorable, Gate: plan.GateOperator, Question: "is no operator running?", Evidence: "one is"}
	moved := operator
	moved.Evidence = "two are" // identity is no text
	refused := &reconcile.RefusedError{Check: operator}
	read := errors.New("AddPods: no such image type")
	invalid := &reconcile.InvalidSpecError{Err: errors.New("spec.version: Required value")}
	tests := map[string]struct {
		failures []error
		stopped  error
		checks   []plan.Check
		want     []string
		stop     string
	}{
		"without the check":      {failures: []error{refused, read}, want: []string{refused.Error(), read.Error()}},
		"with the check":         {failures: []error{refused, read}, checks: []plan.Check{moved}, want: []string{read.Error()}},
		"with another check":     {failures: []error{refused}, checks: []plan.Check{{ID: plan.CheckNever}}, want: []string{refused.Error()}},
		"a stage adds to it":     {failures: []error{fmt.Errorf("AddPods: %w", refused)}, checks: []plan.Check{operator}, want: []string{"AddPods: " + refused.Error()}},
		"it ended the pass":      {failures: []error{refused}, stopped: refused, want: []string{refused.Error()}},
		"it ended in a stage":    {failures: []error{fmt.Errorf("AddPods: %w", invalid)}, stopped: invalid, want: []string{"AddPods: " + invalid.Error()}},
		"another ended the pass": {failures: []error{read}, stopped: invalid, want: []string{read.Error()}, stop: invalid.Error()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := RecordPass(reconcile.PassDone{Failures: tc.failures, Stopped: tc.stopped})
			if diff := cmp.Diff(tc.want, r.FailuresBeside(tc.checks)); diff != "" {
				t.Error(diff)
			}
			if got := r.StoppedBeside(); got != tc.stop {
				t.Errorf("stopped by %q, want %q", got, tc.stop)
			}
		})
	}
}
