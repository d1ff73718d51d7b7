package admintest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// Keys and localities of a database that no other process uses.
const (
	conformancePrefix = "\xff\x02/kubectl-fdb-conformance"
	unusedLocality    = "locality_instance_id:kubectl-fdb-conformance"
	unusedAddress     = "192.0.2.1"
)

// Conformance checks an implementation against a configured, available database that
// has no other user. It leaves the database unchanged, except for a recovery or two.
func Conformance(t *testing.T, open func(t *testing.T) (admin.Admin, admin.KV)) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, admin.Admin, admin.KV)
	}{
		{"the status document is that of an available database", statusConforms},
		{"connection string and status name the same coordinators", connectionStringConforms},
		{"an exclusion is listed until it is included", exclusionConforms},
		{"invalid targets change nothing", badTargetsConform},
		{"maintenance has one zone at a time", maintenanceConforms},
		{"a configuration in force can be configured again", configurationConforms},
		{"an existing database is never created again", creationConforms},
		{"the coordinators in force can be configured again", coordinatorsConform},
		{"no process is killed when none can be reached", killConforms},
		{"bytes of all values come back", bytesConform},
		{"a transaction without mutations leaves no trace", readOnlyConforms},
		{"a key written after it was read is a conflict", conflictConforms},
		{"a key added to a range after it was read is a conflict", rangeConflictConforms},
		{"mutations are committed together", atomicityConforms},
		{"the lock has one holder", lockConforms},
		{"shared values are read as they were written", sharedConforms},
		{"the shared lists of one owner are separate from others", listsConform},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, kv := open(t)
			c.run(t, a, kv)
		})
	}
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func statusConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	s := must(a.Status(t.Context()))(t)
	if !s.Available() || s.NeverConfigured() || s.Cluster.Configuration == nil || len(s.ProcessList()) == 0 {
		t.Fatalf("want an available, configured database: %+v", s.Client)
	}
	v := must(a.Version(t.Context()))(t)
	client, known := v.Protocol()
	running, answered := s.CoordinatorProtocol()
	if !v.Supported() || !known || !answered || client != running {
		t.Errorf("client %s with protocol %s, coordinators with %s", v, client, running)
	}
}

func connectionStringConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	s := must(a.Status(t.Context()))(t)
	c := must(a.ConnectionString(t.Context()))(t)
	if !c.SameCoordinators(s.Coordinators()) || c.String() == "" {
		t.Errorf("got %s, the status has %v", c, s.Coordinators())
	}
	if diff := cmp.Diff(s.Cluster.ConnectionString, c.String()); diff != "" {
		t.Error(diff)
	}
}

func exclusionConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	targets := []string{unusedAddress, unusedAddress + ":4501", unusedLocality}
	t.Cleanup(func() {
		if err := a.Include(context.WithoutCancel(t.Context()), targets); err != nil {
			t.Errorf("cleaning up: %v", err)
		}
	})
	if err := a.Exclude(t.Context(), targets); err != nil {
		t.Fatal(err)
	}
	listed := must(a.Exclusions(t.Context()))(t)
	for _, target := range targets {
		if !slices.Contains(listed, target) {
			t.Errorf("%s is not listed in %v", target, listed)
		}
	}
	status := must(a.Status(t.Context()))(t)
	if diff := cmp.Diff(listed, slices.Sorted(slices.Values(status.ExcludedTargets()))); diff != "" {
		t.Error(diff)
	}
	for _, address := range must(a.InProgressExclusions(t.Context()))(t) {
		if strings.HasPrefix(address, unusedAddress) {
			t.Errorf("the address of no process is in progress: %s", address)
		}
	}
	if err := a.Include(t.Context(), targets); err != nil {
		t.Fatal(err)
	}
	for _, target := range must(a.Exclusions(t.Context()))(t) {
		if slices.Contains(targets, target) {
			t.Errorf("%s is still listed", target)
		}
	}
}

func badTargetsConform(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	before := must(a.Exclusions(t.Context()))(t)
	for _, target := range []string{"garbage", "all", "10.1.0.1:4500:tls", ""} {
		for _, err := range []error{
			a.Exclude(t.Context(), []string{unusedAddress, target}),
			a.Include(t.Context(), []string{unusedAddress, target}),
		} {
			if admin.KindOf(err) != admin.KindBadInput {
				t.Errorf("%q: got %v", target, err)
			}
		}
	}
	if diff := cmp.Diff(before, must(a.Exclusions(t.Context()))(t)); diff != "" {
		t.Error(diff)
	}
}

func maintenanceConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	if m := must(a.Maintenance(t.Context()))(t); m.Active() || m.Disabled {
		t.Fatalf("want no maintenance, got %+v", m)
	}
	if err := a.MaintenanceOn(t.Context(), "zone-a", time.Hour); err != nil {
		t.Fatal(err)
	}
	m := must(a.Maintenance(t.Context()))(t)
	if m.Zone != "zone-a" || m.Remaining <= 0 || m.Remaining > time.Hour {
		t.Errorf("got %+v", m)
	}
	if err := a.MaintenanceOn(t.Context(), "zone-b", time.Hour); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("a second zone: got %v", err)
	}
	if err := a.MaintenanceOff(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := must(a.Maintenance(t.Context()))(t); m.Active() {
		t.Errorf("still %+v", m)
	}
}

func configurationConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	current := configurable(*must(a.Status(t.Context()))(t).Cluster.Configuration)
	if err := a.Configure(t.Context(), current, admin.ChangeDatabase); err != nil {
		t.Fatal(err)
	}
	changed := current
	changed.Resolvers++
	if err := a.Configure(t.Context(), changed, admin.ChangeDatabase); err != nil {
		t.Fatal(err)
	}
	now := must(a.Status(t.Context()))(t).Cluster.Configuration
	if now == nil || now.Resolvers != changed.Resolvers {
		t.Errorf("got %+v", now)
	}
	if err := a.Configure(t.Context(), current, admin.ChangeDatabase); err != nil {
		t.Fatal(err)
	}
	broken := current
	broken.StorageEngine = "ssd-2; kill"
	if err := a.Configure(t.Context(), broken, admin.ChangeDatabase); admin.KindOf(err) != admin.KindBadInput {
		t.Errorf("an injection: got %v", err)
	}
}

// configurable returns a reported configuration without settings that are
// only reported.
func configurable(c fdb.Configuration) fdb.Configuration {
	c.ExcludedServers = nil
	c.LogSpill, c.LogVersion = 0, 0
	c.StorageMigrationType, c.PerpetualStorageWiggle = nil, nil
	c.PerpetualStorageWiggleLocality, c.PerpetualStorageWiggleEngine = nil, nil
	return c.Normalized(c, fdb.Version{})
}

func creationConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	desired := configurable(*must(a.Status(t.Context()))(t).Cluster.Configuration)
	desired.Logs++
	err := a.Configure(t.Context(), desired, admin.NewDatabase)
	if admin.KindOf(err) != admin.KindRefused {
		t.Errorf("got %v", err)
	}
}

func coordinatorsConform(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	before := must(a.ConnectionString(t.Context()))(t)
	after, err := a.ChangeCoordinators(t.Context(), before.Coordinators)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	unreachable := []fdb.Address{{Host: unusedAddress, Port: 4501}}
	if got, err := a.ChangeCoordinators(t.Context(), unreachable); admin.KindOf(err) != admin.KindNotYet {
		t.Errorf("an unreachable coordinator: got %s (%v)", got, err)
	}
	if diff := cmp.Diff(before, must(a.ConnectionString(t.Context()))(t)); diff != "" {
		t.Error(diff)
	}
}

func killConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	t.Helper()
	err := a.Kill(t.Context(), []fdb.Address{{Host: unusedAddress, Port: 4501}})
	if admin.KindOf(err) != admin.KindRefused {
		t.Errorf("got %v", err)
	}
}

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
