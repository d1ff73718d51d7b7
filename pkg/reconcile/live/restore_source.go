package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readSource reads the backup of the destination that writes to the source of the restore, and
// what the source already has. Agents know only the backups of their own database. Only the
// end of the context is an error.
func (w *RestoreCluster) readSource(ctx context.Context) (plan.SourceFacts, error) {
	tools, err := w.db.tools(w.agents, w.restore.Spec.CustomParameters, w.distance)
	if err != nil || tools == nil {
		return plan.SourceFacts{}, nil // without an answer the source is unknown
	}
	url, err := objects.RestoreURL(w.restore)
	if err != nil {
		return plan.SourceFacts{}, nil // a stage reports it
	}
	for _, name := range slices.Sorted(maps.Keys(w.backups)) {
		b := w.backups[name]
		if !mayBegin(b, url) {
			continue
		}
		facts := plan.SourceFacts{Backup: b.Name}
		if facts.Status, _ = tools.Status(ctx, string(b.Tag())); facts.Status == nil {
			continue // without an answer the backup is unknown
		}
		facts.Restorable = plan.CanBeRestored(b, facts.Status)
		if facts.Begins(url) {
			facts.There, _ = tools.Describe(ctx, url)
			return facts, Interrupted(ctx)
		}
	}
	return plan.SourceFacts{}, Interrupted(ctx)
}

// mayBegin reports whether a FoundationDBBackup may write a backup to url that is not restorable
// yet. One that was observed to be restorable is not read.
func mayBegin(b *v1beta2.FoundationDBBackup, url string) bool {
	own, err := objects.BackupURL(b)
	seen := b.Status.BackupDetails
	return err == nil && fdb.SameBackupURL(own, url) && (seen == nil || !seen.Restorable)
}

// readTimes reads the times of the versions at the restore's source. Only the database that wrote
// them has their times, so a backup of this cluster must be known to it there. Only the end of
// the context is an error.
func (w *RestoreCluster) readTimes(ctx context.Context) (plan.TimeFacts, error) {
	url, err := objects.RestoreURL(w.restore)
	if err != nil {
		return plan.TimeFacts{Foreign: err.Error()}, nil
	}
	tools, err := w.acting()
	if err != nil {
		return plan.TimeFacts{NotAsked: err.Error()}, nil // unknown times are a fact that stages decide on
	}
	facts := plan.TimeFacts{AsOf: w.Clock.Now().UTC()}
	wrote, err := w.wrote(ctx, tools, url)
	switch {
	case err == nil && !wrote:
		facts.Foreign = "the database of cluster " + w.Key.Name + " has no record of a backup to " + fdb.WithoutSecrets(url) +
			", and only the database that wrote it has the times of its versions: set spec.backupVersion instead"
		return facts, nil
	case err == nil:
		facts.There, err = tools.Describe(ctx, url, fdb.DescribeTimes...)
	}
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	if err != nil {
		facts.Unreachable = noAnswer(ctx, err)
		return facts, nil
	}
	facts.Read = true
	return facts, nil
}

// wrote reports whether the database knows a backup to url on the tag of a FoundationDBBackup.
func (w *RestoreCluster) wrote(ctx context.Context, tools *admin.Backups, url string) (bool, error) {
	for _, name := range slices.Sorted(maps.Keys(w.backups)) {
		status, err := tools.Status(ctx, string(w.backups[name].Tag()))
		if err != nil {
			return false, err
		}
		if status.Known() && fdb.SameBackupPlace(status.URL, url) {
			return true, nil
		}
	}
	return false, nil
}

// setVersion patches spec.backupVersion and the record of its time. The patch has no other field,
// so that the spec stays as its owner wrote it.
func (w *RestoreCluster) setVersion(ctx context.Context, a plan.SetRestoreVersion) error {
	if w.restore == nil {
		return errors.New("the FoundationDBRestore was not read yet")
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{plan.AnnotationRestoreTime: a.Chosen.Note()}, "resourceVersion": w.restore.ResourceVersion},
		"spec":     map[string]any{"backupVersion": a.Chosen.Version},
	})
	if err != nil {
		return err
	}
	changed := w.restore.DeepCopy()
	if err := w.Client.Patch(ctx, changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("set spec.backupVersion of %s %s: %w", kindRestore, w.restore.Name, err)
	}
	if v := changed.Spec.BackupVersion; v == nil || *v != a.Chosen.Version {
		return fmt.Errorf("set spec.backupVersion of %s %s: the API server accepted the patch, but did not set %d", kindRestore, w.restore.Name, a.Chosen.Version)
	}
	w.restore = changed
	return nil
}
