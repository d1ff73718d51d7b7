package live

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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
			return facts, ctx.Err()
		}
	}
	return plan.SourceFacts{}, ctx.Err()
}

// mayBegin reports whether a FoundationDBBackup may write a backup to url that is not restorable
// yet. One that was observed to be restorable is not read.
func mayBegin(b *v1beta2.FoundationDBBackup, url string) bool {
	own, err := objects.BackupURL(b)
	seen := b.Status.BackupDetails
	return err == nil && fdb.SameBackupURL(own, url) && (seen == nil || !seen.Restorable)
}
