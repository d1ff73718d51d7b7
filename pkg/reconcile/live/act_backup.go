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
func (w *BackupCluster) Act(ctx context.Context, a plan.Action) error {
	if err := w.leases.stillOurs(ctx); err != nil {
		return err
	}
	own, is := a.(plan.BackupAction)
	if !is {
		return unsupported(a)
	}
	ctx, cancel := w.leases.during(ctx, a)
	defer cancel()
	switch a := own.(type) {
	case plan.WriteBackupStatus:
		return w.writeBackupStatus(ctx, a)
	case plan.SetBackupState:
		return w.setState(ctx, a)
	case plan.SetBackupFinalizer:
		if a.Present {
			return w.setFinalizers(ctx, v1beta2.FinalizerBackup)
		}
		return w.setFinalizers(ctx)
	case plan.ApplyAgents:
		if a.Create {
			return w.objects.create(ctx, a.Object)
		}
		return w.objects.update(ctx, a.Object.DeepCopy())
	case plan.DeleteAgents:
		return w.objects.deleteOne(ctx, &appsv1.Deployment{}, a.Name, a.UID)
	case plan.DeleteAgentPod:
		return w.objects.deleteOne(ctx, &corev1.Pod{}, a.Name, a.UID)
	case plan.SetTolerations:
		return w.objects.setTolerations(ctx, a)
	case plan.StartBackup, plan.StopBackup, plan.PauseAgents, plan.ModifyBackup, plan.DeleteBackupData, plan.ExpireBackup, plan.ClearBackupData:
		return w.runTools(ctx, a)
	}
	return unsupported(a)
}

// runTools carries out the actions of the backup tools.
func (w *BackupCluster) runTools(ctx context.Context, a plan.BackupAction) error {
	tools, err := w.acting()
	if err != nil {
		return fmt.Errorf("%s: %w", a.Describe(), err)
	}
	limit := plan.EffectOf(a).AtMost - actLimit // the rest is for reads before and after
	switch a := a.(type) {                      //nolint:gochecksumtype // Act has all
	case plan.StartBackup:
		return tools.Start(ctx, a.Start, a.Version)
	case plan.StopBackup:
		if a.Abort {
			return tools.Abort(ctx, a.Tag)
		}
		return tools.Discontinue(ctx, a.Tag)
	case plan.PauseAgents:
		if a.Pause {
			return tools.Pause(ctx, a.Tag)
		}
		return tools.Resume(ctx, a.Tag)
	case plan.ModifyBackup:
		if a.Move != nil { // first: a move without an annotation would count as restorable
			if err := w.noteMove(ctx, a.Move.Note()); err != nil {
				return err
			}
		}
		return tools.Modify(ctx, a.Change)
	case plan.DeleteBackupData:
		// The plan of this action does not read the store.
		if err := tools.StoreAnswers(ctx, a.URL); err != nil {
			return err
		}
		if err := deleteAll(ctx, tools, a.URL, limit); err != nil {
			return err
		}
		return w.setFinalizers(ctx)
	case plan.ExpireBackup:
		return tools.Expire(ctx, admin.Expiry{URL: a.URL, Before: a.Before, Force: a.Force, Limit: limit})
	case plan.ClearBackupData:
		return deleteAll(ctx, tools, a.URL, limit)
	}
	return unsupported(a)
}

// deleteAll deletes until nothing is left, which the tools report only when they find nothing.
func deleteAll(ctx context.Context, tools *admin.Backups, url string, limit time.Duration) error {
	for range 2 {
		if deleted, err := tools.DeleteData(ctx, url, limit); err != nil || deleted {
			return err
		}
	}
	return errors.New("delete the data of the backup: it still exists after the deletion")
}

// writeBackupStatus records a move before the status is written, which has the new destination,
// and removes the annotation after it: if interrupted, too much is recorded and not too little.
func (w *BackupCluster) writeBackupStatus(ctx context.Context, a plan.WriteBackupStatus) error {
	if w.backup == nil {
		return errors.New("the FoundationDBBackup was not read yet")
	}
	if a.Move != "" {
		if err := w.noteMove(ctx, a.Move); err != nil {
			return err
		}
	}
	edited := a.Apply(plan.Snapshot{Backup: w.backup.DeepCopy()}).Backup
	if err := w.Client.Status().Update(ctx, edited); err != nil {
		return fmt.Errorf("write the status of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	edited.Annotations = w.backup.Annotations // a status update returns none
	w.backup = edited
	return w.noteMove(ctx, a.Move)
}

// noteMove patches AnnotationBackupMove; an empty note removes it.
func (w *BackupCluster) noteMove(ctx context.Context, note string) error {
	if w.backup == nil {
		return errors.New("the FoundationDBBackup was not read yet")
	}
	if w.backup.Annotations[plan.AnnotationBackupMove] == note {
		return nil
	}
	var value any // nil removes it
	if note != "" {
		value = note
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{plan.AnnotationBackupMove: value}}})
	if err != nil {
		return err
	}
	changed := w.backup.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("record the move of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	if changed.Annotations[plan.AnnotationBackupMove] != note {
		return fmt.Errorf("record the move of %s %s: the API server accepted the annotation, but returned another value", kindBackup, w.backup.Name)
	}
	w.backup = changed
	return nil
}

// setState patches spec.backupState. The patch has no other field, so that the spec stays as
// its owner wrote it.
func (w *BackupCluster) setState(ctx context.Context, a plan.SetBackupState) error {
	if w.backup == nil {
		return errors.New("the FoundationDBBackup was not read yet")
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"backupState": a.State}})
	if err != nil {
		return err
	}
	changed := w.backup.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("set spec.backupState of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	if changed.Spec.BackupState != a.State {
		return fmt.Errorf("set spec.backupState of %s %s: the API server accepted the patch, but returned %q", kindBackup, w.backup.Name, changed.Spec.BackupState)
	}
	w.backup = changed
	return nil
}

// setFinalizers sets those finalizers that are ours. It replaces the list as a whole, so it must
// not have changed.
func (w *BackupCluster) setFinalizers(ctx context.Context, ours ...string) error {
	if w.backup == nil {
		return errors.New("the FoundationDBBackup was not read yet")
	}
	edited := w.backup.DeepCopy()
	edited.Finalizers = slices.DeleteFunc(edited.Finalizers, func(f string) bool { return f == v1beta2.FinalizerBackup })
	edited.Finalizers = append(edited.Finalizers, ours...)
	patch := client.MergeFromWithOptions(w.backup, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, edited, patch); err != nil {
		return fmt.Errorf("write the finalizers of %s %s: %w", kindBackup, w.backup.Name, err)
	}
	w.backup = edited
	return nil
}
