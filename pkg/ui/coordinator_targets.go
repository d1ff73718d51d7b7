package ui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CoordinatorsMoved are coordinators that are to be as they should be, and on none of some
// process groups, as far as that is so.
func CoordinatorsMoved(f Facts, away []v1beta2.ProcessGroupID) Target {
	t := Target{ID: "coordinators", Phase: "unknown"}
	if !f.Database.Available() {
		t.Note = f.Database.Why()
		return t
	}
	verdict := safety.JudgeCoordinators(f.Snapshot, away...)
	t.Phase, t.Note, t.Reached = "to-be-moved", strings.Join(verdict.Problems, "; "), verdict.Valid()
	if t.Reached {
		t.Phase = "as-they-should-be"
	}
	return t
}
