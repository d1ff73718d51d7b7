package admin_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// Whatever became of a commit, the same change made again ends the same, and an entry
// keeps the time that it was first written with.
func TestListChangesSurviveUnknownCommitResults(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	keys, member := fdb.LockKeys{}, fdb.Member{Instance: "dc1", Group: "dc1-log-1"}
	other := string(keys.Listed(fdb.ReadyForRestart, fdb.Member{Instance: "dc10", Group: "dc10-log-1"}))
	change := admin.ListChange{
		Instance: "dc1", At: at, Addresses: map[string][]string{"dc1-log-1": {"10.1.0.1"}},
		Add: map[fdb.SharedList][]string{fdb.PendingForRestart: {"dc1-log-1"}}, Remove: map[fdb.SharedList][]string{fdb.ReadyForRestart: {"dc1-log-1"}},
	}
	want := map[string]string{
		string(keys.Listed(fdb.PendingForRestart, member)): string(fdb.EncodeListed(at)),
		string(keys.Addresses(member)):                     `["10.1.0.1"]`,
		other:                                              "theirs",
	}
	for name, c := range map[string]struct {
		outcomes []string
		want     admin.Kind
	}{
		"committed":              {nil, ""},
		"lost, then committed":   {[]string{"lost"}, ""},
		"unknown, but committed": {[]string{"found"}, ""},
		"always lost":            {[]string{"lost", "lost", "lost"}, admin.KindUnknownResult},
	} {
		kv := &fakeKV{values: map[string]string{other: "theirs", string(keys.Listed(fdb.ReadyForRestart, member)): "old"}, outcomes: c.outcomes}
		err := admin.ChangeLists(t.Context(), kv, keys, change)
		if got := admin.KindOf(err); got != c.want {
			t.Fatalf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil {
			continue
		}
		again := change
		again.At = at.Add(time.Hour)
		if err := admin.ChangeLists(t.Context(), kv, keys, again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, kv.values); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// An unreadable entry may belong to any owner, so then all are unknown.
func TestAnUnparsableSharedListEntryMakesAllListsUnknown(t *testing.T) {
	keys := fdb.LockKeys{}
	begin, _ := keys.List(fdb.ReadyForRestart)
	addressesBegin, _ := keys.AllAddresses()
	listed := string(fdb.EncodeListed(time.Unix(1, 0)))
	for name, bad := range map[string][2]string{
		"a time that is none":  {string(begin) + "dc1/dc1-log-1", "now"},
		"an entry of no group": {string(begin) + "dc1/", listed},
		"addresses as text":    {string(addressesBegin) + "dc1/dc1-log-1", "10.1.0.1"},
	} {
		kv := &fakeKV{values: map[string]string{bad[0]: bad[1]}}
		got, err := admin.ReadShared(t.Context(), kv, keys, admin.SharedRequest{Lists: true})
		if admin.KindOf(err) != admin.KindUnparsed {
			t.Errorf("%s: got %+v (%v)", name, got, err)
		}
		if _, err := admin.ReadShared(t.Context(), kv, keys, admin.SharedRequest{}); err != nil {
			t.Errorf("%s is in the way of who does not ask for the lists: %v", name, err)
		}
	}
}
