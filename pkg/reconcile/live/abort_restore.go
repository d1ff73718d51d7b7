package live

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// abortRestore aborts a restore. A restore that is complete by now, or another one on the tag, is refused.
func (w *RestoreCluster) abortRestore(ctx context.Context, a plan.AbortRestore) error {
	tools, err := w.acting()
	if err != nil {
		return fmt.Errorf("abort the restore: %w", err)
	}
	err = tools.AbortRestore(ctx, a.Tag, a.UID)
	if admin.KindOf(err) == admin.KindRefused {
		return &reconcile.RefusedError{Check: plan.Check{ID: plan.CheckRestoreAbortable, Question: "can the restore be aborted?", Evidence: err.Error(), Gate: plan.GateRestore}}
	}
	return err
}

// acting returns the tools for an action.
func (w *RestoreCluster) acting() (*admin.Backups, error) {
	if w.restore == nil {
		return nil, errors.New("the FoundationDBRestore was not read yet")
	}
	tools, err := w.db.tools(maps.Clone(w.agents), w.restore.Spec.CustomParameters, w.distance)
	if err == nil && tools == nil {
		err = errors.New(noAgent)
	}
	return tools, err
}

// readOtherRestores reads the other FoundationDBRestores: one may have started the restore to abort.
func (w *RestoreCluster) readOtherRestores(ctx context.Context) (plan.OtherRestoreFacts, error) {
	return others[v1beta2.FoundationDBRestore](ctx, w.Client, w.Name, &v1beta2.FoundationDBRestoreList{})
}

// readStatus reads the status document in a pod of agents. Only the end of the context is an
// error.
func (w *RestoreCluster) readStatus(ctx context.Context) (plan.DatabaseFacts, error) {
	facts := plan.DatabaseFacts{}
	tools, err := w.acting()
	if err != nil {
		facts.NotQueried = err.Error()
		return facts, nil
	}
	asking, cancel := Limited(ctx, DefaultStatusTimeout)
	defer cancel()
	status, err := tools.Database(asking)
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable = noAnswer(asking, err)
		return facts, nil
	}
	facts.Status = status
	return facts, nil
}
