package session

import (
	"context"
	"sync"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SharedDatabase is the status of a database of which several resources are read concurrently: the first reader that gets to
// it reads it for all. If the database does not answer it, each of the others tries in its own pods: the reason may be that
// Kubernetes cluster alone.
type SharedDatabase struct {
	once  sync.Once
	facts plan.DatabaseFacts
}

// observe observes facets that are read in pods, with the shared status; without one it observes all itself.
func (s *SharedDatabase) observe(ctx context.Context, conn Session, into *plan.Snapshot, facets plan.Facet) error {
	if s == nil || facets&plan.Database == 0 {
		return conn.Observe(ctx, into, facets)
	}
	status := *into
	answered := beside(func() error { return s.read(ctx, conn, &status) })
	err := conn.Observe(ctx, into, facets&^plan.Database)
	if ofDatabase := <-answered; err == nil {
		err = ofDatabase
	}
	into.Database = status.Database
	return err
}

func (s *SharedDatabase) read(ctx context.Context, conn Session, into *plan.Snapshot) error {
	var (
		err   error
		first bool
	)
	s.once.Do(func() { // a panic must not leave the others without an answer
		first, err = true, reconcile.Guarded(func() error { return conn.Observe(ctx, into, plan.Database) })
		s.facts = into.Database
	})
	switch {
	case first:
		return err
	case s.facts.Status != nil:
		into.Database = s.facts
		return nil
	}
	return conn.Observe(ctx, into, plan.Database)
}
