package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
