package apply

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// lastRead is what a pass knew of the database at its end: read after all that it did.
type lastRead struct {
	database plan.DatabaseFacts
	known    bool
}

// lastReadAge is the highest age of the document of a lastRead.
const lastReadAge = 5 * time.Second

// readOnce is a session whose first observation of the database is that of the pass before. The
// progress of a command's targets is read right after a pass; nothing is decided by it.
type readOnce struct {
	session.Session
	// of reads for the session.
	of   ofOne
	last *lastRead
	now  time.Time
}

// Observe implements reconcile.Observer.
func (r readOnce) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	last := *r.last
	*r.last = lastRead{}
	age := r.now.Sub(last.database.AsOf)
	if facets&plan.Database == 0 || !last.known || last.database.Status == nil || age < 0 || age > lastReadAge {
		return r.of.Observe(ctx, into, facets)
	}
	if err := r.of.Observe(ctx, into, facets&^plan.Database); err != nil {
		return err
	}
	into.Database = last.database
	return nil
}
