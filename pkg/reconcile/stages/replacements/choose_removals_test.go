package replacements

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestChooseRemovals(t *testing.T) {
	tests := map[string]stagestest.RemovalCase{
		"leaves a cluster alone that has what it wants": {From: stagestest.HealthyCluster},
		"marks what is too many": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2 },
			Does: []string{"mark for removal: storage-116"},
		},
		"marks a group first that does not report": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.DropProcess(s, s.Groups()[13])
			},
			Does: []string{"mark for removal: storage-114"},
		},
		"keeps those that are spread best": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.EditProcess(s, s.Groups()[14], func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-14" })
			}, Does: []string{"mark for removal: storage-115"},
		},
		"marks no group of a class that does not shrink, reporting or not": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.DropProcess(s, s.Groups()[0])
			},
			Does: []string{"mark for removal: storage-116"},
		},
		"does not count those that already leave": {From: stagestest.LeavingStorage},
		"waits while too few report to choose from": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.DropProcess(s, s.Groups()[13])
				stagestest.DropProcess(s, s.Groups()[14])
			}, Holds: "cannot choose which storage process groups stay",
		},
		"waits while the database is unavailable": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, Holds: "timed out",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ChooseRemovals) })
	}
}
