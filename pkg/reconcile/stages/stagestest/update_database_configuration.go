package stagestest

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Unconfigured is a cluster whose processes all report and whose database was never created.
func Unconfigured(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Status.Configured = false
	status := s.Database.Status
	status.Client.DatabaseStatus.Available = false
	status.Cluster.RecoveryState.Name = fdb.RecoveryNeverCreated
	status.Cluster.Configuration = nil
	status.Cluster.Layers.Error = "configurationMissing"
	return s
}
