package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// databaseWriter changes the database, and what it holds for all control-plane instances.
type databaseWriter struct {
	*Options
	known  *known
	db     *database
	status *statusWriter
}

// configure creates or changes the database's configuration; success is read back.
func (w *databaseWriter) configure(ctx context.Context, a plan.Configure) error {
	cli, cluster, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("configure the database: %w", err)
	}
	if !a.New {
		return cli.Configure(ctx, a.Configuration, changeOf(a.Part))
	}
	// The last read before the one command that could hide a database's data behind an empty
	// one: the snapshot may be minutes old.
	newest := &v1beta2.FoundationDBCluster{}
	if err := w.Client.Get(ctx, w.Key, newest); err != nil {
		return fmt.Errorf("verify that the database was never configured: %w", err)
	}
	if cluster.Status.Configured || newest.Status.Configured {
		return errors.New("create a database: status.configured is already true")
	}
	if err := w.db.verifyNeverConfigured(ctx, cli, newest); err != nil {
		return err
	}
	return cli.Configure(ctx, a.Configuration, admin.NewDatabase)
}

// changeOf is the change that sends one part of a configuration.
func changeOf(p fdb.Part) admin.ConfigureKind {
	switch p {
	case fdb.OnlyRegions:
		return admin.ChangeRegions
	case fdb.OnlyUsableRegions:
		return admin.ChangeUsableRegions
	case fdb.Whole:
	}
	return admin.ChangeDatabase
}

// changeCoordinators changes the coordinators and stores the connection string that results. A
// status without it is corrected from the status document, as long as one coordinator of the
// old connection string still answers.
func (w *databaseWriter) changeCoordinators(ctx context.Context, a plan.ChangeCoordinators) error {
	cli, _, err := w.db.open(ctx)
	if err != nil {
		return fmt.Errorf("change coordinators: %w", err)
	}
	connectionString, err := cli.ChangeCoordinators(ctx, a.Coordinators)
	if err != nil {
		return err
	}
	cluster := &v1beta2.FoundationDBCluster{}
	if err := w.Client.Get(ctx, w.Key, cluster); err != nil {
		return fmt.Errorf("store the new connection string %s: %w", connectionString, err)
	}
	cluster.Status.ConnectionString = connectionString.String()
	if err := w.Client.Status().Update(ctx, cluster); err != nil {
		return fmt.Errorf("store the new connection string %s: %w", connectionString, err)
	}
	w.known.remember(cluster)
	return nil
}
