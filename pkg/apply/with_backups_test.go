package apply

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// A pass that ends before it reads the database, because another run holds the Lease,
// determines nothing about it: what an earlier pass of a watch saw may be outdated.
func TestARestoreDoesNotStartOnDatabaseStateOfAnEarlierPass(t *testing.T) {
	f, restore := &resourceSet{available: map[string]bool{}}, newPasses(Run{ResourceKind: session.RestoreKind}, Change{Of: "sample"})
	available := plan.Snapshot{}
	available.Database.Status = &fdb.Status{}
	available.Database.Status.Client.DatabaseStatus.Available = true
	available.Database.Status.Cluster.Processes = map[string]fdb.Process{"a": {}}
	f.seesDatabase("sample", reconcile.PassStarted{Round: 1})
	f.seesDatabase("sample", reconcile.Observed{Facets: plan.Database, Snapshot: available})
	if why := f.notYet(restore); why != "" {
		t.Fatalf("the database is available: %s", why)
	}
	f.seesDatabase("sample", reconcile.PassStarted{Round: 1})
	if f.notYet(restore) == "" {
		t.Error("a restore begins on what an earlier pass saw")
	}
}
