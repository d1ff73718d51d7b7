package safety

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestEvictionCheckNamesTheMaintenanceZone(t *testing.T) {
	for zone, want := range map[string]plan.Check{
		"":   {OK: true, Evidence: "no zone is under maintenance"},
		"z1": {OK: true, Evidence: "zone z1 is under maintenance, and the process group is in z1"},
		"z2": {Evidence: "zone z2 is under maintenance, and the process group is in z1"},
	} {
		s := leavable(t)
		s.Database.Status.Cluster.MaintenanceZone = zone
		want.ID, want.Question, want.Gate = plan.CheckNoOtherMaintenance, "is no other zone under maintenance?", plan.GateMaintain
		got := noMaintenanceElsewhere(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("storage-1")})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("zone %q under maintenance: %s", zone, diff)
		}
	}
}

func TestTheRoleCheckFailsWhileRolesAreUnknown(t *testing.T) {
	const untrusted = "the roles of its processes are unknown now"
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"no such role":       {unchanged, true, "none of its processes holds data"},
		"such a role":        {edit("stateless-1", func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: "log"}} }), false, "its process at 10.0.0.9:4501 has the role log"},
		"a recovery goes on": {func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.Name = "recruiting" }, false, untrusted},
		"roles are missing": {func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Messages = []fdb.Message{{Name: fdb.MessageLogServersError}}
		}, false, untrusted},
		"there is no answer":  {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
		"it does not respond": {func(s *plan.Snapshot) { delete(s.Database.Status.Cluster.Processes, "stateless-1") }, true, "none of its processes holds data"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			c := withoutRoles(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("stateless-1")}, "storage", "log")
			if c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}

func TestEvictionCheckNamesGroupsDownInOtherFaultDomains(t *testing.T) {
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"all are up":                 {unchanged, true, "all process groups with data in other fault domains have their pods and report"},
		"no pod elsewhere":           {func(s *plan.Snapshot) { delete(s.Pods, "sample-log-3") }, false, "log-3 in fault domain z3 has no pod"},
		"a pod terminates elsewhere": {func(s *plan.Snapshot) { s.Pods["sample-log-3"].DeletionTimestamp = &metav1.Time{} }, false, "log-3 in fault domain z3 has a terminating pod"},
		"one does not report":        {edit("log-3", func(p *fdb.Process) { p.Version = "" }), false, "log-3 in fault domain z3 has processes that do not report"},
		"no pod in the same zone":    {func(s *plan.Snapshot) { delete(s.Pods, "sample-log-1") }, true, ""},
		"the group itself":           {func(s *plan.Snapshot) { delete(s.Pods, "sample-storage-1") }, true, ""},
		"the group itself, nowhere": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("storage-1").FaultDomain = ""
			delete(s.Pods, "sample-storage-1")
		}, true, ""},
		"another one of nowhere": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("log-1").FaultDomain = ""
			delete(s.Pods, "sample-log-1")
		}, false, "log-1 in fault domain unknown has no pod"},
		"both are of nowhere": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("log-1").FaultDomain, s.Cluster.ProcessGroup("storage-1").FaultDomain = "", ""
			delete(s.Pods, "sample-log-1")
		}, false, "log-1 in fault domain unknown has no pod"},
		"a stateless one": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("stateless-1").FaultDomain = "z9"
			delete(s.Pods, "sample-stateless-1")
		}, true, ""},
		"one that is drained": {func(s *plan.Snapshot) {
			s.Cluster.ProcessGroup("log-3").MarkForRemoval(evening)
			s.Cluster.ProcessGroup("log-3").SetExcluded(evening)
			delete(s.Pods, "sample-log-3")
		}, true, ""},
		"there is no answer": {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			c := OthersUp(s, s.Cluster.ProcessGroup("storage-1"))
			if c.OK != tc.ok || (tc.evidence != "" && c.Evidence != tc.evidence) {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}

func TestOnlyStatelessAndTestPodsHoldNoState(t *testing.T) {
	s := leavable(t)
	for id, want := range map[v1beta2.ProcessGroupID]bool{"test-1": true, "stateless-1": true, "storage-1": false, "log-1": false, "coordinator-1": false} {
		if got := HoldsNothing(s, s.Cluster.ProcessGroup(id)); got != want {
			t.Errorf("%s: %t, want %t", id, got, want)
		}
	}
}
