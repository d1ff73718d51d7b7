package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Act implements reconcile.Actor.
func (w *BackupWorld) Act(ctx context.Context, a plan.Action) error {
	if err := w.stillOurs(ctx); err != nil {
		return err
	}
	ctx, cancel := w.during(ctx, a)
	defer cancel()
	switch a := a.(type) { //nolint:gochecksumtype // the rest are for passes over clusters and restores
	case plan.WriteBackupStatus:
		return w.writeBackupStatus(ctx, a)
	case plan.SetBackupState:
		return w.setState(ctx, a)
	case plan.SetBackupFinalizer:
		return w.setFinalizer(ctx, a.Present)
	case plan.ApplyAgents:
		if a.Create {
			return w.create(ctx, a.Object)
		}
		return w.update(ctx, a.Object.DeepCopy())
	case plan.DeleteAgents:
		return w.deleteOne(ctx, &appsv1.Deployment{}, a.Name, a.UID)
	case plan.DeleteAgentPod:
		return w.deleteOne(ctx, &corev1.Pod{}, a.Name, a.UID)
	default:
		return w.runTools(ctx, a)
	}
}

// runTools carries out what the backup tools do.
func (w *BackupWorld) runTools(ctx context.Context, a plan.Action) error {
	tools, err := w.acting()
	if err != nil {
		return fmt.Errorf("%s: %w", a.Describe(), err)
	}
	limit := plan.EffectOf(a).AtMost - actLimit // the rest is for looking before and after
	switch a := a.(type) {                      //nolint:gochecksumtype // the rest are for passes over clusters and restores
	case plan.StartBackup:
		return tools.Start(ctx, a.Start, a.Version)
	case plan.StopBackup:
		if a.Abort {
			return tools.Abort(ctx, a.Tag)
		}
		return tools.Discontinue(ctx, a.Tag)
	case plan.PauseAgents:
		return tools.SetPaused(ctx, a.Pause, a.Tag)
	case plan.ModifyBackup:
		if a.Move != nil { // first: what was moved and not noted would count as restorable
			if err := w.noteMove(ctx, a.Move.Note()); err != nil {
				return err
			}
		}
		return tools.Modify(ctx, a.Change)
	case plan.DeleteBackupData:
		// A plan of this is made without a look at the store.
		if err := tools.StoreAnswers(ctx, a.URL); err != nil {
			return err
		}
		if err := deleteAll(ctx, tools, a.URL, limit); err != nil {
			return err
		}
		return w.setFinalizer(ctx, false)
	case plan.ExpireBackup:
		return tools.Expire(ctx, a.URL, a.Before, a.Force, limit)
	case plan.ClearBackupData:
		return deleteAll(ctx, tools, a.URL, limit)
	}
	return fmt.Errorf("%s: that is not for a pass over a backup", a.Describe())
}

// deleteAll deletes until nothing is there. The tools say that nothing is there only when
// they find nothing.
func deleteAll(ctx context.Context, tools *admin.Backups, url string, limit time.Duration) error {
	for range 2 {
		if gone, err := tools.DeleteData(ctx, url, limit); err != nil || gone {
			return err
		}
	}
	return errors.New("deleting the data of the backup: it was deleted, and is still there")
}

// writeBackupStatus notes a move before the status is written, which has the new place, and
// takes the note away after it: whenever it is kept from going on, more is noted than is so.
func (w *BackupWorld) writeBackupStatus(ctx context.Context, a plan.WriteBackupStatus) error {
	if w.backup == nil {
		return errors.New("writing a record that was never read")
	}
	if a.Move != "" {
		if err := w.noteMove(ctx, a.Move); err != nil {
			return err
		}
	}
	edited := a.Apply(plan.Snapshot{Backup: w.backup.DeepCopy()}).Backup
	if err := w.Client.Status().Update(ctx, edited); err != nil {
		return fmt.Errorf("writing the status of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	edited.Annotations = w.backup.Annotations // a status has none
	w.backup = edited
	return w.noteMove(ctx, a.Move)
}

// noteMove patches what the record says of a move of its backup; empty for nothing.
func (w *BackupWorld) noteMove(ctx context.Context, note string) error {
	if w.backup == nil {
		return errors.New("writing a record that was never read")
	}
	if w.backup.Annotations[plan.AnnotationBackupMove] == note {
		return nil
	}
	var value any // nil takes it away
	if note != "" {
		value = note
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{plan.AnnotationBackupMove: value}}})
	if err != nil {
		return err
	}
	changed := w.backup.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("noting the move of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	if changed.Annotations[plan.AnnotationBackupMove] != note {
		return fmt.Errorf("noting the move of %s %s: the API server said so, and the note is another one", kindBackup, w.backup.Name)
	}
	w.backup = changed
	return nil
}

// setState patches spec.backupState. The patch names nothing else, so that the spec stays as
// its owner wrote it.
func (w *BackupWorld) setState(ctx context.Context, a plan.SetBackupState) error {
	if w.backup == nil {
		return errors.New("changing a record that was never read")
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"backupState": a.State}})
	if err != nil {
		return err
	}
	changed := w.backup.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("setting spec.backupState of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	if changed.Spec.BackupState != a.State {
		return fmt.Errorf("setting spec.backupState of %s %s: it is %q after the API server said it was set", kindBackup, w.backup.Name, changed.Spec.BackupState)
	}
	w.backup = changed
	return nil
}

// setFinalizer replaces the list of finalizers as a whole, so nobody may have changed it.
func (w *BackupWorld) setFinalizer(ctx context.Context, present bool) error {
	if w.backup == nil {
		return errors.New("writing a record that was never read")
	}
	edited := w.backup.DeepCopy()
	edited.Finalizers = slices.DeleteFunc(edited.Finalizers, func(f string) bool { return f == v1beta2.FinalizerBackup })
	if present {
		edited.Finalizers = append(edited.Finalizers, v1beta2.FinalizerBackup)
	}
	patch := client.MergeFromWithOptions(w.backup, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, edited, patch); err != nil {
		return fmt.Errorf("writing the finalizers of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	w.backup = edited
	return nil
}
