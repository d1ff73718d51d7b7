package stagestest

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// AgedCluster returns a healthy cluster whose database reports the time: noon. Its processes started
// at eleven.
func AgedCluster(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Database.Status.Cluster.ClusterControllerTimestamp = new(Noon.Unix())
	return s
}
