package stages

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

const staleConnectionString = "sample:old@10.1.0.1:4501,10.1.0.8:4501,10.1.0.9:4501"

// drifted returns a healthy cluster whose status and ConfigMap have an old connection string.
func drifted(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	s.Database.Status.Cluster.ConnectionString = sampleConnectionString
	s.Cluster.Status.ConnectionString = staleConnectionString
	s.ConfigMap = &corev1.ConfigMap{Data: map[string]string{objects.KeyClusterFile: staleConnectionString, "foreign": "1"}}
	s.ConfigMap.Name = "sample-config"
	return s
}

func TestSyncConnectionString(t *testing.T) {
	const (
		record    = "set the connection string to " + sampleConnectionString
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
	tests := map[string]removalCase{
		"brings record and ConfigMap in line":            {from: drifted, does: []string{record, configMap}},
		"writes the record only where only that differs": {from: drifted, given: func(s *plan.Snapshot) { s.ConfigMap.Data[objects.KeyClusterFile] = sampleConnectionString }, does: []string{record}},
		"takes another order for the same": {from: drifted, given: func(s *plan.Snapshot) {
			s.Cluster.Status.ConnectionString = "sample:abc@10.1.0.3:4501,10.1.0.1:4501,10.1.0.2:4501"
		}, does: []string{configMap}},
		"leaves a missing ConfigMap to a pass":                  {from: drifted, given: func(s *plan.Snapshot) { s.ConfigMap = nil }, does: []string{record}},
		"puts one into an empty ConfigMap":                      {from: drifted, given: func(s *plan.Snapshot) { s.ConfigMap.Data = nil }, does: []string{record, configMap}},
		"not while the database does not answer":                {from: drifted, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
		"not while the database is unavailable":                 {from: drifted, given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }, holds: "the database is unavailable"},
		"not without a quorum":                                  {from: drifted, given: func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.QuorumReachable = false }, holds: "no quorum of coordinators is reachable"},
		"not when the coordinators have changed meanwhile":      {from: drifted, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.ConnectionString = "sample:new@10.1.0.7:4501" }, holds: "status document: sample:new@10.1.0.7:4501"},
		"not of a database in which few of the groups report":   {from: drifted, given: elsewhere(4), holds: "3 of 7 process groups of this cluster that keep data report from their pods"},
		"of one in which most report":                           {from: drifted, given: elsewhere(2), does: []string{record, configMap}},
		"not of a database that knows none of the record's own": {from: drifted, given: func(s *plan.Snapshot) { s.Cluster.Status.ProcessGroups = nil }, holds: "0 of 0 process groups"},
	}
	inForce, err := fdb.ParseConnectionString(sampleConnectionString)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, SyncConnectionString(inForce)) })
	}
}

// A ConfigMap has other keys than the connection string, which this stage must not change.
func TestOnlyTheClusterFileOfAConfigMapIsSynced(t *testing.T) {
	inForce, _ := fdb.ParseConnectionString(sampleConnectionString)
	s := drifted(t)
	for _, a := range SyncConnectionString(inForce).Decide(s).Actions {
		if a, ok := a.(plan.ApplyConfigMap); ok && (a.Object.Data["foreign"] != "1" || a.Object.Data[objects.KeyClusterFile] != sampleConnectionString || len(a.Object.Data) != 2) {
			t.Errorf("it becomes %v", a.Object.Data)
		}
	}
	if s.ConfigMap.Data[objects.KeyClusterFile] != staleConnectionString {
		t.Error("what was observed was changed")
	}
}
