package live

import (
	"context"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readTarget reads whether the key ranges that the restore writes hold data, where the
// restore can still be started. Only the context's end is an error.
func (w *RestoreCluster) readTarget(ctx context.Context, known plan.RestoreFacts) (plan.TargetFacts, error) {
	if why := w.neverWrites(known); why != "" {
		return plan.TargetFacts{NotQueried: why}, nil
	}
	tools, err := w.acting()
	if err != nil {
		return plan.TargetFacts{NotQueried: err.Error()}, nil // what cannot be read is a fact that stages decide on
	}
	facts := plan.TargetFacts{}
	occupied, err := tools.Occupied(ctx, targetRanges(w.restore))
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable, facts.Locked = noAnswer(ctx, err), admin.KindOf(err) == admin.KindLocked
		return facts, nil
	}
	facts.Read, facts.Occupied = true, occupied
	return facts, nil
}

// neverWrites returns the reason why the restore is not about to write anything; empty
// where it may be. A database that is being restored is locked, and cannot be read.
func (w *RestoreCluster) neverWrites(known plan.RestoreFacts) string {
	status := w.restore.Status
	switch {
	case status.Running || status.State != "":
		return "the restore was started before"
	case w.restore.DeletionTimestamp != nil:
		return "the FoundationDBRestore is being deleted"
	case slices.ContainsFunc(known.All, fdb.RestoreStatus.Active):
		return "another restore is running"
	default:
		return ""
	}
}

func targetRanges(r *v1beta2.FoundationDBRestore) [][2]string {
	var all [][2]string
	for _, keys := range r.Spec.KeyRanges {
		all = append(all, [2]string{keys.Start, keys.End})
	}
	return all
}
