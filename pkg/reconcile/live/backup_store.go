package live

import (
	"context"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readStores asks what is in the store, and who uses it.
func (w *BackupWorld) readStores(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
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

// readStore asks what is where the record has its backup go. Only the context's end is an
// error: a store that cannot be asked is a fact.
func (w *BackupWorld) readStore(ctx context.Context) (plan.StoreFacts, error) {
	facts := plan.StoreFacts{}
	url, err := objects.BackupURL(w.backup)
	if err != nil {
		facts.NotAsked = err.Error()
		return facts, nil //nolint:nilerr // what cannot be asked is a fact that stages decide on
	}
	facts.URL = fdb.WithoutSecrets(url)
	tools, err := w.acting()
	if err != nil {
		facts.NotAsked = err.Error()
		return facts, nil //nolint:nilerr // as above
	}
	there, err := tools.Describe(ctx, url)
	if ctx.Err() != nil {
		return facts, ctx.Err()
	}
	facts.AsOf = w.Clock.Now().UTC()
	if err != nil {
		facts.Unreachable = err.Error()
		return facts, nil //nolint:nilerr // as above
	}
	facts.There, facts.Read = there, true
	return facts, nil
}

// mostTags is how many tags are asked, one after the other. With more nobody can tell.
const mostTags = 32

// readUse asks who writes to stores, or restores from them. Only the context's end is an
// error.
func (w *BackupWorld) readUse(ctx context.Context) (plan.UseFacts, error) {
	tools, err := w.acting()
	if err != nil {
		return plan.UseFacts{NotRead: err.Error()}, nil //nolint:nilerr // what cannot be asked is a fact that stages decide on
	}
	facts, err := uses(ctx, tools)
	if ctx.Err() != nil {
		return facts, ctx.Err()
	}
	if err != nil {
		return plan.UseFacts{NotRead: err.Error()}, nil //nolint:nilerr // as above
	}
	facts.Read = true
	return facts, nil
}

func uses(ctx context.Context, tools *admin.Backups) (plan.UseFacts, error) {
	facts := plan.UseFacts{}
	tags, err := tools.Tags(ctx)
	if err != nil {
		return facts, err
	}
	if len(tags) > mostTags {
		return facts, fmt.Errorf("the database has %d tags of backups, and no more than %d are asked", len(tags), mostTags)
	}
	for _, tag := range tags {
		status, err := tools.Status(ctx, tag)
		if err != nil {
			return facts, err
		}
		if status.State.Running {
			facts.Backups = append(facts.Backups, *status)
		}
	}
	restores, err := tools.Restores(ctx)
	for _, r := range restores {
		if r.Active() {
			facts.Restores = append(facts.Restores, r)
		}
	}
	return facts, err
}

// Found implements the listing of a store: the places of backups where the record's own is.
func (w *BackupWorld) Found(ctx context.Context, base string) ([]string, error) {
	tools, err := w.acting()
	if err != nil {
		return nil, err
	}
	return tools.Found(ctx, base)
}
