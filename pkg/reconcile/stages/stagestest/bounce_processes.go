package stagestest

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// NewKnobs returns a healthy cluster whose storage processes run with other arguments than they
// would start with now.
func NewKnobs(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	for _, g := range s.Groups() {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			g.SetCondition(v1beta2.ConditionIncorrectCommandLine, Noon.Add(-time.Minute))
		}
	}
	return s
}

// Upgrading returns a cluster in which every process can start in 7.4.6 and still runs 7.3.79.
func Upgrading(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := HealthyCluster(tb)
	s.Cluster.Spec.Version = "7.4.6"
	for _, g := range s.Groups() {
		g.SetCondition(v1beta2.ConditionIncorrectCommandLine, Noon.Add(-time.Minute))
	}
	return s
}
