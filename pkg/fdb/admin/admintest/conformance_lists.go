package admintest

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// listsConform writes the lists of two owners, one of whose IDs is a prefix of the
// other, and of one without an ID.
func listsConform(t *testing.T, _ admin.Admin, kv admin.KV) {
	t.Helper()
	keys := fdb.LockKeys{Prefix: conformancePrefix + "/lists"}
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	later := at.Add(time.Minute)
	change := func(c admin.ListChange) {
		t.Helper()
		if err := admin.ChangeLists(t.Context(), kv, keys, c); err != nil {
			t.Fatal(err)
		}
	}
	one := func(group string, lists ...fdb.SharedList) map[fdb.SharedList][]string {
		groups := map[fdb.SharedList][]string{}
		for _, list := range lists {
			groups[list] = []string{group}
		}
		return groups
	}
	change(admin.ListChange{Instance: "dc1", At: at, Add: one("dc1-log-1", fdb.PendingForRestart, fdb.ReadyForRestart, fdb.PendingForRemoval)})
	change(admin.ListChange{Instance: "dc10", At: at, Add: one("dc10-log-1", fdb.PendingForRestart), Addresses: map[string][]string{"dc10-log-1": {"10.1.0.1", "10.1.0.2"}, "nowhere": nil}})
	change(admin.ListChange{Instance: "", At: at, Add: one("log-1", fdb.PendingForRestart), Addresses: map[string][]string{"log-1": {"10.1.0.3"}}})
	change(admin.ListChange{Instance: "dc1", At: later, Add: one("dc1-log-1", fdb.PendingForRestart, fdb.PendingForInclusion), Remove: one("dc1-log-1", fdb.PendingForRemoval, fdb.ReadyForInclusion)})
	change(admin.ListChange{Instance: "", Remove: one("dc1-log-1", fdb.PendingForRestart), Addresses: map[string][]string{"log-1": nil}})

	dc1, dc10, nameless := fdb.Member{Instance: "dc1", Group: "dc1-log-1"}, fdb.Member{Instance: "dc10", Group: "dc10-log-1"}, fdb.Member{Group: "log-1"}
	wantLists(t, kv, keys, admin.Shared{
		Lists: listsOf(map[fdb.SharedList]map[fdb.Member]time.Time{
			fdb.PendingForRestart: {dc1: at, dc10: at, nameless: at}, fdb.ReadyForRestart: {dc1: at}, fdb.PendingForInclusion: {dc1: later},
		}),
		Addresses: map[fdb.Member][]string{dc10: {"10.1.0.1", "10.1.0.2"}},
	})

	if err := admin.ClearRestarts(t.Context(), kv, keys, []fdb.Member{dc1, nameless}); err != nil {
		t.Fatal(err)
	}
	wantLists(t, kv, keys, admin.Shared{
		Lists:     listsOf(map[fdb.SharedList]map[fdb.Member]time.Time{fdb.PendingForRestart: {dc10: at}, fdb.PendingForInclusion: {dc1: later}}),
		Addresses: map[fdb.Member][]string{dc10: {"10.1.0.1", "10.1.0.2"}},
	})
	both := admin.ListChange{Instance: "dc1", Add: one("dc1-log-1", fdb.PendingForRestart), Remove: one("dc1-log-1", fdb.PendingForRestart)}
	if err := admin.ChangeLists(t.Context(), kv, keys, both); admin.KindOf(err) != admin.KindBadInput {
		t.Errorf("on and off a list at once: got %v", err)
	}
	change(admin.ListChange{Instance: "dc1", Remove: one("dc1-log-1", fdb.PendingForInclusion)})
	change(admin.ListChange{Instance: "dc10", Remove: one("dc10-log-1", fdb.PendingForRestart), Addresses: map[string][]string{"dc10-log-1": nil}})
	wantLists(t, kv, keys, admin.Shared{Lists: listsOf(nil), Addresses: map[fdb.Member][]string{}})
}

// listsOf adds empty lists for those without entries.
func listsOf(lists map[fdb.SharedList]map[fdb.Member]time.Time) map[fdb.SharedList]map[fdb.Member]time.Time {
	all := map[fdb.SharedList]map[fdb.Member]time.Time{}
	for _, list := range fdb.SharedLists() {
		all[list] = map[fdb.Member]time.Time{}
		maps.Copy(all[list], lists[list])
	}
	return all
}

func wantLists(t *testing.T, kv admin.KV, keys fdb.LockKeys, want admin.Shared) {
	t.Helper()
	want.Maintenance = map[string]time.Time{}
	got := must(admin.ReadShared(t.Context(), kv, keys, admin.SharedRequest{Lists: true}))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
