package stagestest

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// AnotherEngine returns a healthy cluster whose spec has another storage engine.
func AnotherEngine(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Spec.DatabaseConfiguration.StorageEngine = "ssd-rocksdb-v1"
	return s
}

// ExcludedCoordinator returns a healthy cluster with an excluded coordinator.
func ExcludedCoordinator(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	EditProcess(&s, s.Groups()[0], func(p *fdb.Process) { p.Excluded = new(true) })
	return s
}
