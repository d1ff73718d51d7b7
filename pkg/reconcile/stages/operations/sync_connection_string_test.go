package operations

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

const staleConnectionString = "sample:old@10.1.0.1:4501,10.1.0.8:4501,10.1.0.9:4501"

// drifted returns a healthy cluster whose status and ConfigMap have an old connection string.
func drifted(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	s.Database.Status.Cluster.ConnectionString = stagestest.SampleConnectionString
	s.Cluster.Status.ConnectionString = staleConnectionString
	s.ConfigMap = &corev1.ConfigMap{Data: map[string]string{objects.KeyClusterFile: staleConnectionString, "foreign": "1"}}
	s.ConfigMap.Name = "sample-config"
	return s
}

func TestSyncConnectionString(t *testing.T) {
	const (
		record    = "set the connection string to " + stagestest.SampleConnectionString
		configMap = "update ConfigMap sample-config (cluster-file)"
	)
	elsewhere := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, g := range s.Groups() {
				if g.ProcessClass.IsStateful() && n > 0 {
					n--
					s.Pod(g).Status.PodIP = "10.9.9.9"
				}
			}
		}
	}
	tests := map[string]stagestest.RemovalCase{
		"brings record and ConfigMap in line":            {From: drifted, Does: []string{record, configMap}},
		"writes the record only where only that differs": {From: drifted, Given: func(s *plan.Snapshot) { s.ConfigMap.Data[objects.KeyClusterFile] = stagestest.SampleConnectionString }, Does: []string{record}},
		"takes another order for the same": {From: drifted, Given: func(s *plan.Snapshot) {
			s.Cluster.Status.ConnectionString = "sample:abc@10.1.0.3:4501,10.1.0.1:4501,10.1.0.2:4501"
		}, Does: []string{configMap}},
		"leaves a missing ConfigMap to a pass":                  {From: drifted, Given: func(s *plan.Snapshot) { s.ConfigMap = nil }, Does: []string{record}},
		"puts one into an empty ConfigMap":                      {From: drifted, Given: func(s *plan.Snapshot) { s.ConfigMap.Data = nil }, Does: []string{record, configMap}},
		"not while the database does not answer":                {From: drifted, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
		"not while the database is unavailable":                 {From: drifted, Given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, Holds: "the database is unavailable"},
		"not without a quorum":                                  {From: drifted, Given: func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.QuorumReachable = false }, Holds: "no quorum of coordinators is reachable"},
		"not when the coordinators have changed meanwhile":      {From: drifted, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.ConnectionString = "sample:new@10.1.0.7:4501" }, Holds: "status document: sample:new@10.1.0.7:4501"},
		"not of a database in which few of the groups report":   {From: drifted, Given: elsewhere(4), Holds: "3 of 7 process groups of this cluster that keep data report from their pods"},
		"of one in which most report":                           {From: drifted, Given: elsewhere(2), Does: []string{record, configMap}},
		"not of a database that knows none of the record's own": {From: drifted, Given: func(s *plan.Snapshot) { s.Cluster.Status.ProcessGroups = nil }, Holds: "0 of 0 process groups"},
	}
	inForce, err := fdb.ParseConnectionString(stagestest.SampleConnectionString)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, SyncConnectionString(inForce)) })
	}
}

// A ConfigMap has other keys than the connection string, which this stage must not change.
func TestSyncConnectionStringChangesOnlyTheClusterFileKey(t *testing.T) {
	inForce, _ := fdb.ParseConnectionString(stagestest.SampleConnectionString)
	s := drifted(t)
	applied := 0
	for _, a := range SyncConnectionString(inForce).Decide(s).Actions {
		a, ok := a.(plan.ApplyConfigMap)
		if !ok {
			continue
		}
		applied++
		if diff := cmp.Diff(map[string]string{"foreign": "1", objects.KeyClusterFile: stagestest.SampleConnectionString}, a.Object.Data); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{objects.KeyClusterFile}, a.Keys); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	}
	if applied != 1 {
		t.Errorf("%d ConfigMaps are applied, want 1", applied)
	}
	if s.ConfigMap.Data[objects.KeyClusterFile] != staleConnectionString {
		t.Error("what was observed was changed")
	}
}
