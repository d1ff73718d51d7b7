package apply

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// Who follows what steps look at follows what they look at seldom as well.
func TestFacetsOfStagesIncludeOccasionalReads(t *testing.T) {
	if got := facetsOf([]plan.Stage{{Reads: plan.ClusterResource}, {Reads: plan.Pods, More: plan.Database}}); got != plan.ClusterResource|plan.Pods|plan.Database {
		t.Errorf("got %s", got)
	}
	if got := facetsOf(backup.Backup()); got&plan.BackupUse == 0 {
		t.Errorf("got %s", got)
	}
}
