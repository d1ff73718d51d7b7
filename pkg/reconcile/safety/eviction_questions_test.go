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

// Without the process of one zone, three are left besides that of the group.
func TestZonesWithCoordinatorCandidatesAreCounted(t *testing.T) {
	lone := func(s *plan.Snapshot) {
		edit("storage-3", func(p *fdb.Process) { p.Locality["zoneid"] = "lone" })(s)
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  int
	}{
		"each zone counts once":           {unchanged, 4},
		"a zone of one process":           {lone, 5},
		"of a class that is not eligible": {both(lone, edit("storage-3", func(p *fdb.Process) { p.ClassType = "stateless" })), 4},
		"of one that does not report":     {both(lone, edit("storage-3", func(p *fdb.Process) { p.Version = "" })), 4},
		"of one that is excluded":         {both(lone, edit("storage-3", func(p *fdb.Process) { p.Excluded = new(true) })), 4},
		"of one under maintenance":        {both(lone, edit("storage-3", func(p *fdb.Process) { p.UnderMaintenance = new(true) })), 4},
		"of one that is to be removed":    {both(lone, func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-3").MarkForRemoval(evening) }), 4},
		"of the group itself":             {edit("storage-2", func(p *fdb.Process) { p.Locality["zoneid"] = "lone" }), 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			if got := zonesForCoordinators(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("storage-2")}); got != tc.want {
				t.Errorf("%d zones, want %d", got, tc.want)
			}
		})
	}
}

// The disks of the three other groups have 300 GiB, of which 240 GiB are free.
func TestEvictionRequiresDiskSpaceForTheDataElsewhere(t *testing.T) {
	const gib = int64(1 << 30)
	disk := func(used, free, total int64) func(*fdb.Process) {
		return func(p *fdb.Process) {
			for i := range p.Roles {
				p.Roles[i].KVStoreUsedBytes, p.Roles[i].KVStoreAvailableBytes, p.Roles[i].KVStoreTotalBytes = &used, &free, &total
			}
		}
	}
	second := func(s *plan.Snapshot) { // a second server of storage-2, on the same disk
		s.Database.Status.Cluster.Processes["storage-2-2"] = s.Database.Status.Cluster.Processes["storage-2"]
	}
	log := func(p *fdb.Process) { p.Roles = append([]fdb.Role{{Role: "log"}}, p.Roles...) }
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"more than enough":          {unchanged, true, "10.0 GiB of data to move; others have 240.0 GiB free of 300.0 GiB, 10% must remain free"},
		"a tenth stays free":        {edit("storage-1", disk(210*gib, 0, 0)), true, ""},
		"less stays free":           {edit("storage-1", disk(210*gib+1, 0, 0)), false, ""},
		"a shared disk counts once": {second, true, "10.0 GiB of data to move; others have 240.0 GiB free of 300.0 GiB, 10% must remain free"},
		"an excluded disk is none":  {edit("storage-2", func(p *fdb.Process) { p.Excluded = new(true) }), true, "10.0 GiB of data to move; others have 160.0 GiB free of 200.0 GiB, 10% must remain free"},
		"it has two servers": {func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Processes["storage-1-2"] = s.Database.Status.Cluster.Processes["storage-1"]
		}, true, "20.0 GiB of data to move; others have 240.0 GiB free of 300.0 GiB, 10% must remain free"},
		"a log role has no disk": {both(edit("storage-1", log), edit("storage-2", log)), true, "10.0 GiB of data to move; others have 240.0 GiB free of 300.0 GiB, 10% must remain free"},
		"a disk of one byte": {func(s *plan.Snapshot) {
			edit("storage-1", disk(0, 1, 1))(s)
			edit("storage-2", disk(0, 1, 1))(s)
			for _, id := range []string{"storage-3", "storage-4"} {
				delete(s.Database.Status.Cluster.Processes, id)
			}
		}, true, ""},
		"there are no others": {func(s *plan.Snapshot) {
			for _, id := range []string{"storage-2", "storage-3", "storage-4"} {
				delete(s.Database.Status.Cluster.Processes, id)
			}
		}, false, ""},
		"no others and no data": {func(s *plan.Snapshot) { everyProcess(dropRole(fdb.RoleStorage))(s.Database.Status) }, false, "0.0 GiB of data to move; others have 0.0 GiB free of 0.0 GiB, 10% must remain free"},
		"no process":            {func(s *plan.Snapshot) { clear(s.Database.Status.Cluster.Processes) }, false, incompleteDocument},
		"an unknown group":      {edit("storage-3", func(p *fdb.Process) { delete(p.Locality, fdb.LocalityInstanceID) }), false, "a storage process does not report its process group"},
		"an unknown use":        {edit("storage-3", func(p *fdb.Process) { p.Roles[0].KVStoreUsedBytes = nil }), false, "a storage process does not report its disk space"},
		"an unknown size":       {edit("storage-3", func(p *fdb.Process) { p.Roles[0].KVStoreTotalBytes = nil }), false, "a storage process does not report its disk space"},
		"no document":           {func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			c := spaceElsewhere(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup("storage-1")})
			if c.OK != tc.ok || (tc.evidence != "" && c.Evidence != tc.evidence) {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}

func TestEvictionChecksWhetherCoordinatorsCanMove(t *testing.T) {
	tests := map[string]struct {
		group    v1beta2.ProcessGroupID
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"to enough zones":            {"storage-2", unchanged, true, "4 fault domains with eligible processes, 3 required"},
		"to just enough zones":       {"storage-2", edit("log-4", func(p *fdb.Process) { p.Version = "" }), true, ""},
		"a group that is none":       {"storage-1", unchanged, true, "it is not a coordinator"},
		"one does not answer":        {"storage-2", func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.Coordinators[1].Reachable = false }, false, "not all coordinators are reachable"},
		"without coordinators":       {"storage-2", func(s *plan.Snapshot) { s.Database.Status.Client.Coordinators.Coordinators = nil }, false, "the status document does not report the coordinators"},
		"without a document":         {"storage-2", func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
		"without enough fault zones": {"storage-2", fewZones, false, "2 fault domains with eligible processes, 3 required"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			c := coordinatorsCanMove(Pod{Snapshot: s, Group: s.Cluster.ProcessGroup(tc.group)})
			if c.OK != tc.ok || (tc.evidence != "" && c.Evidence != tc.evidence) {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}
