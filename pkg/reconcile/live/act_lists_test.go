package live_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Lists are read in global mode only, changed under this instance's name, and used up by
// the restart that they led to.
func TestARestartRemovesItsSharedListEntries(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
	})
	processes := f.observe(plan.Everything).Database.Status.ProcessList()
	at := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	one := []v1beta2.ProcessGroupID{"storage-1"}
	change := plan.ChangeLists{
		At: at, Addresses: map[v1beta2.ProcessGroupID][]string{"storage-1": {"10.1.0.1"}},
		Add: map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForRestart: one, fdb.ReadyForRestart: one, fdb.PendingForRemoval: one},
	}
	if err := f.cluster.Act(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	own := fdb.Member{Instance: f.resource().Spec.ProcessGroupIDPrefix, Group: "storage-1"}
	lists := f.observe(plan.Everything).Coordination.Lists
	if !lists.Read || !lists.Has(fdb.ReadyForRestart, own) || !lists.Entries[fdb.PendingForRestart][own].Equal(at) || len(lists.Addresses[own]) != 1 {
		t.Errorf("after the change: %+v", lists)
	}
	err := f.cluster.Act(t.Context(), plan.RestartProcesses{Groups: one, Addresses: []fdb.Address{processes[0].Address}, Announced: []fdb.Member{own}})
	if err != nil {
		t.Fatal(err)
	}
	lists = f.observe(plan.Everything).Coordination.Lists
	if lists.Has(fdb.ReadyForRestart, own) || lists.Has(fdb.PendingForRestart, own) || !lists.Has(fdb.PendingForRemoval, own) {
		t.Errorf("after the restart: %+v", lists)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.AutomationOptions.SynchronizationMode = nil })
	if got := f.observe(plan.Everything).Coordination.Lists; got.Read || got.Entries != nil {
		t.Errorf("read in local mode: %+v", got)
	}
}

// An instance that got another prefix takes its own entries along, and no other's.
func TestListEntriesUnderAFormerPrefixAreRemovedForOwnGroupsOnly(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
	})
	const own = "kc1-storage-1"
	former := "kc1"
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = former })
	f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) { s.ProcessGroups[0].ProcessGroupID = own })
	f.observe(plan.Everything)
	list := func(ids ...v1beta2.ProcessGroupID) map[fdb.SharedList][]v1beta2.ProcessGroupID {
		return map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForInclusion: ids}
	}
	at := f.cluster.Clock.Now().UTC().Truncate(time.Second)
	if err := f.cluster.Act(t.Context(), plan.ChangeLists{At: at, Add: list(own, "kc1-storage-9")}); err != nil {
		t.Fatal(err)
	}
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) { s.ProcessGroupIDPrefix = "east" })
	f.observe(plan.Everything)
	for what, refused := range map[string]plan.ChangeLists{
		"another's entry":     {Former: &former, Remove: list(own, "kc1-storage-9")},
		"another's addresses": {Former: &former, Addresses: map[v1beta2.ProcessGroupID][]string{"kc1-storage-9": nil}},
		"something new":       {Former: &former, Add: list(own)},
		"new addresses":       {Former: &former, Addresses: map[v1beta2.ProcessGroupID][]string{own: {"10.1.0.1"}}},
	} {
		if err := f.cluster.Act(t.Context(), refused); err == nil {
			t.Errorf("%s was changed below the prefix %q", what, former)
		}
	}
	if err := f.cluster.Act(t.Context(), plan.ChangeLists{Former: &former, Remove: list(own)}); err != nil {
		t.Fatal(err)
	}
	lists := f.observe(plan.Everything).Coordination.Lists
	if left := lists.Members(fdb.PendingForInclusion); len(left) != 1 || left[0].Group != "kc1-storage-9" {
		t.Errorf("left on the list: %v, want the other instance's", left)
	}
}

// A restart that fails has used up its announcements all the same: instances announce
// again what is ready then.
func TestAFailedRestartAlsoRemovesItsAnnouncements(t *testing.T) {
	f := sharing(t)
	f.setSpec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
	})
	f.observe(plan.Everything)
	one := []v1beta2.ProcessGroupID{"storage-1"}
	own := fdb.Member{Instance: f.resource().Spec.ProcessGroupIDPrefix, Group: "storage-1"}
	add := map[fdb.SharedList][]v1beta2.ProcessGroupID{fdb.PendingForRestart: one, fdb.ReadyForRestart: one}
	if err := f.cluster.Act(t.Context(), plan.ChangeLists{At: f.cluster.Clock.Now(), Add: add}); err != nil {
		t.Fatal(err)
	}
	absent := []fdb.Address{{Host: "192.0.2.1", Port: 4501}}
	if err := f.cluster.Act(t.Context(), plan.RestartProcesses{Groups: one, Addresses: absent, Announced: []fdb.Member{own}}); err == nil {
		t.Fatal("no process was restarted, without an error")
	}
	if lists := f.observe(plan.Everything).Coordination.Lists; !lists.Read || lists.Has(fdb.ReadyForRestart, own) {
		t.Errorf("after the restart that failed: %+v", lists)
	}
}
