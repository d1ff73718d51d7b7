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

// readSource asks for the backup of the destination that begins at the place which the
// restore names, and for what is there already. Of a backup of another database the agents
// know nothing. Only the context's end is an error.
func (w *RestoreWorld) readSource(ctx context.Context) (plan.SourceFacts, error) {
	tools, err := w.tools(w.agents, w.restore.Spec.CustomParameters, w.distance)
	if err != nil || tools == nil {
		return plan.SourceFacts{}, nil //nolint:nilerr // what cannot be asked is not known
	}
	url, err := objects.RestoreURL(w.restore)
	if err != nil {
		return plan.SourceFacts{}, nil //nolint:nilerr // a stage says so
	}
	for _, name := range slices.Sorted(maps.Keys(w.backups)) {
		b := w.backups[name]
		if !mayBegin(b, url) {
			continue
		}
		facts := plan.SourceFacts{Backup: b.Name}
		if facts.Status, _ = tools.Status(ctx, string(b.Tag())); facts.Status == nil {
			continue // what nobody tells is not known
		}
		facts.Restorable = plan.CanBeRestored(b, facts.Status)
		if facts.Begins(url) {
			facts.There, _ = tools.Describe(ctx, url)
			return facts, ctx.Err()
		}
	}
	return plan.SourceFacts{}, ctx.Err()
}

// mayBegin reports whether a record may have a backup at a place that cannot be restored yet.
// One that was seen to be restorable is not asked about.
func mayBegin(b *v1beta2.FoundationDBBackup, url string) bool {
	wanted, err := objects.BackupURL(b)
	seen := b.Status.BackupDetails
	return err == nil && fdb.SameBackupURL(wanted, url) && (seen == nil || !seen.Restorable)
}
