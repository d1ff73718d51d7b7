package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
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

// LimitError is why a context of Limited ended: the tools that were run within it took too long.
type LimitError struct{ After time.Duration }

func (e *LimitError) Error() string { return "no answer within " + phrase.Duration(e.After) }

// Limited returns a context for all that is read through pods within d. What was not read by then is
// a fact like any other that cannot be read: observations end without an error.
func Limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &LimitError{After: d})
}

// exceeded returns the limit that ended ctx; nil if none did.
func exceeded(ctx context.Context) *LimitError {
	limit, _ := errors.AsType[*LimitError](context.Cause(ctx))
	return limit
}

// Interrupted returns the error of a context that ended by anything but a limit of Limited.
func Interrupted(ctx context.Context) error {
	if err := ctx.Err(); err != nil && exceeded(ctx) == nil {
		return err
	}
	return nil
}

const (
	// LogInAgain is what to do about credentials that the API server does not accept.
	LogInAgain = "log in again with the tool that issues the credentials, or correct the kubeconfig"
	// LoggedOut is LogInAgain with the reason.
	LoggedOut = "the credentials are missing or expired: " + LogInAgain
)

// noAnswer returns why a tool that was run within ctx did not answer. If the limit ended it, that
// names the pods in which it still ran.
func noAnswer(ctx context.Context, err error) string {
	limit, where := exceeded(ctx), admin.Unfinished(err)
	switch {
	case apierrors.IsUnauthorized(err):
		return LoggedOut
	case limit == nil || !errors.Is(err, context.DeadlineExceeded):
		return err.Error()
	case len(where) == 0:
		return limit.Error()
	default:
		return fmt.Sprintf("%s: the tool did not end in %s", limit, phrase.List(where))
	}
}

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
