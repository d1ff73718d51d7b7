package targets

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CoordinatorsMoved is the progress of a change of coordinators: it is reached once they are
// valid and none is on the process groups to avoid.
func CoordinatorsMoved(f inspect.Facts, away []v1beta2.ProcessGroupID) inspect.Target {
	t := inspect.Target{ID: "coordinators", Phase: "unknown"}
	if !f.Database.Available() {
		t.Note = f.Database.Why()
		return t
	}
	verdict := safety.JudgeCoordinators(f.Snapshot, away...)
	t.Phase, t.Note, t.Reached = "misplaced", strings.Join(verdict.Problems, "; "), verdict.Valid()
	if t.Reached {
		t.Phase = "placed"
	}
	return t
}
