package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Four storage groups, four of logs and a coordinator keep data. All but the last ones report
// from their pods.
func TestADatabaseIsOwnIfAMajorityOfGroupsReportFromTheirPods(t *testing.T) {
	elsewhere := func(ids ...string) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, id := range ids {
				edit(id, func(p *fdb.Process) { p.Address.Host = "10.9.0.1" })(s)
			}
		}
	}
	four := []string{"storage-1", "storage-2", "storage-3", "storage-4"}
	tests := map[string]struct {
		given      func(*plan.Snapshot)
		ok         bool
		need, have string
	}{
		"all":                    {unchanged, true, "5 process groups", "9 process groups"},
		"five of nine":           {elsewhere(four...), true, "5 process groups", "5 process groups"},
		"four of nine":           {elsewhere(append(four, "log-2")...), false, "5 process groups", "4 process groups"},
		"testers do not count":   {elsewhere("test-1", "stateless-1"), true, "5 process groups", "9 process groups"},
		"a pod is not there":     {func(s *plan.Snapshot) { delete(s.Pods, "sample-storage-1") }, true, "5 process groups", "8 process groups"},
		"one does not report":    {edit("storage-1", func(p *fdb.Process) { p.Version = "" }), true, "5 process groups", "8 process groups"},
		"a pod without address":  {func(s *plan.Snapshot) { s.Pods["sample-storage-1"] = &corev1.Pod{} }, true, "5 process groups", "8 process groups"},
		"one is drained":         {func(s *plan.Snapshot) { s.Cluster.ProcessGroup("log-1").SetExcluded(evening) }, true, "5 process groups", "8 process groups"},
		"half of eight":          {both(func(s *plan.Snapshot) { s.Cluster.ProcessGroup("log-1").SetExcluded(evening) }, elsewhere(four...)), false, "5 process groups", "4 process groups"},
		"without process groups": {func(s *plan.Snapshot) { s.Cluster.Status.ProcessGroups = nil }, false, "1 process group", "0 process groups"},
		"no answer":              {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			for _, g := range s.Groups() {
				s.Pods[g.PodName(s.Cluster)].Status.PodIP = g.Addresses[0]
			}
			tc.given(&s)
			if c := OwnDatabase(s); c.OK != tc.ok || c.Need != tc.need || c.Have != tc.have || c.Evidence == "" {
				t.Errorf("%+v; want %t with %q of %q", c, tc.ok, tc.have, tc.need)
			}
		})
	}
}
