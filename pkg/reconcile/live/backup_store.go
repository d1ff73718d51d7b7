package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readStores reads the contents of the store, and which backups and restores use stores.
func (w *BackupCluster) readStores(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.BackupStore != 0 {
		facts, err := w.readStore(ctx)
		if err != nil {
			return err
		}
		into.BackupStore = facts
	}
	if facets&plan.BackupUse != 0 {
		facts, err := w.readUse(ctx)
		if err != nil {
			return err
		}
		into.BackupUse = facts
	}
	return nil
}

// readStore reads the contents of the backup's destination. Only the end of the context is an
// error: an unreadable store is a fact.
func (w *BackupCluster) readStore(ctx context.Context) (plan.StoreFacts, error) {
	facts := plan.StoreFacts{}
	url, err := objects.BackupURL(w.backup)
	if err != nil {
		facts.NotQueried = err.Error()
		return facts, nil // an unknown store is a fact that stages decide on
	}
	facts.URL = fdb.WithoutSecrets(url)
	tools, err := w.acting()
	if err != nil {
		facts.NotQueried = err.Error()
		return facts, nil // as above
	}
	there, err := tools.Describe(ctx, url)
	if err := Interrupted(ctx); err != nil {
		return facts, err
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable = noAnswer(ctx, err)
		return facts, nil // as above
	}
	facts.There, facts.Read = there, true
	return facts, nil
}

// maxTags is how many tags are read, one after the other. With more, the use of stores is unknown.
const maxTags = 32

// readUse reads which backups write to stores, and which restores read from them. Only the end
// of the context is an error.
func (w *BackupCluster) readUse(ctx context.Context) (plan.UseFacts, error) {
	tools, err := w.acting()
	if err != nil {
		return plan.UseFacts{NotRead: err.Error()}, nil // an unknown use is a fact that stages decide on
	}
	facts := plan.UseFacts{}
	tags, err := usesOf(ctx, tools, &facts)
	switch {
	case Interrupted(ctx) != nil:
		return facts, Interrupted(ctx)
	case err != nil:
		facts.NotRead = noAnswer(ctx, err)
	case tags > maxTags:
		facts.NotRead, facts.Lasting = w.tooManyTags(tags), true
	default:
		facts.Read = true
	}
	return facts, nil
}

// usesOf reads the restores, in one query, and then each tag unless there are too many.
func usesOf(ctx context.Context, tools *admin.Backups, into *plan.UseFacts) (tags int, err error) {
	restores, err := tools.Restores(ctx)
	if err != nil {
		return 0, err
	}
	into.Restores = slices.DeleteFunc(restores, func(r fdb.RestoreStatus) bool { return !r.Active() })
	into.RestoresRead = true
	all, err := tools.Tags(ctx)
	if err != nil || len(all) > maxTags {
		return len(all), err
	}
	for _, tag := range all {
		status, err := tools.Status(ctx, tag)
		if err != nil {
			return len(all), err
		}
		if status.State.Running {
			into.Backups = append(into.Backups, *status)
		}
	}
	return len(all), nil
}

// tooManyTags is how a user can find out what was not read: a database keeps every tag that
// ever had a backup.
func (w *BackupCluster) tooManyTags(tags int) string {
	text := fmt.Sprintf("the database has %d backup tags, which it never deletes, and at most %d are read; to list all: %s",
		tags, maxTags, w.inAgent("sh", "-c", `for tag in $(fdbbackup tags); do fdbbackup status -t "$tag"; done`))
	url, err := objects.BackupURL(w.backup)
	if err != nil {
		return text
	}
	text += "; if no backup writes to this destination and no restore of any database reads from it, delete all of its data with: " + w.inAgent("fdbbackup", "delete", "-d", fdb.WithoutSecrets(url))
	if w.backup.DeletionTimestamp != nil {
		text += "; then delete the FoundationDBBackup and its agents without further data with: " +
			w.kubectl("patch", "foundationdbbackup", w.backup.Name, "--type", "merge", "-p", `{"spec":{"deletionPolicy":"noop"}}`)
	}
	return text
}

// inAgent is a command line that runs a program in a pod of the backup's agents.
func (w *BackupCluster) inAgent(program ...string) string {
	words := []string{"exec", "deployment/" + w.backup.DeploymentName(), "-c", v1beta2.ContainerMain, "--"}
	return w.kubectl(append(words, program...)...)
}

// Found lists the destinations of backups in the store at base.
func (w *BackupCluster) Found(ctx context.Context, base string) ([]string, error) {
	tools, err := w.acting()
	if err != nil {
		return nil, err
	}
	return tools.Found(ctx, base)
}
