package admintest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// Places in the keys and localities of a database that nobody else uses.
const (
	conformancePrefix = "\xff\x02/kubectl-fdb-conformance"
	nobodysLocality   = "locality_instance_id:kubectl-fdb-conformance"
	nobodysAddress    = "192.0.2.1"
)

// Conformance checks an implementation against a configured, available database that
// nobody else uses. It leaves the database as it was, but for a recovery or two.
func Conformance(t *testing.T, open func(t *testing.T) (admin.Admin, admin.KV)) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, admin.Admin, admin.KV)
	}{
		{"the status document is that of an available database", statusConforms},
		{"connection string and status name the same coordinators", connectionStringConforms},
		{"an exclusion is listed until it is included", exclusionConforms},
		{"targets that make no sense change nothing", badTargetsConform},
		{"maintenance has one zone at a time", maintenanceConforms},
		{"a configuration in force can be configured again", configurationConforms},
		{"an existing database is never created again", creationConforms},
		{"the coordinators in force can be asked for again", coordinatorsConform},
		{"nobody is killed when nobody can be reached", killConforms},
		{"bytes of all values come back", bytesConform},
		{"a transaction without mutations leaves no trace", readOnlyConforms},
		{"a key written after it was read is a conflict", conflictConforms},
		{"a key added to a range after it was read is a conflict", rangeConflictConforms},
		{"mutations are committed together", atomicityConforms},
		{"the lock has one holder", lockConforms},
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
	targets := []string{nobodysAddress, nobodysAddress + ":4501", nobodysLocality}
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
		if strings.HasPrefix(address, nobodysAddress) {
			t.Errorf("nobody's address is in progress: %s", address)
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
	before := must(a.Exclusions(t.Context()))(t)
	for _, target := range []string{"garbage", "all", "10.1.0.1:4500:tls", ""} {
		for _, err := range []error{
			a.Exclude(t.Context(), []string{nobodysAddress, target}),
			a.Include(t.Context(), []string{nobodysAddress, target}),
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

// configurable is a reported configuration without what is only reported.
func configurable(c fdb.Configuration) fdb.Configuration {
	c.ExcludedServers = nil
	c.LogSpill, c.LogVersion = 0, 0
	c.StorageMigrationType, c.PerpetualStorageWiggle = nil, nil
	c.PerpetualStorageWiggleLocality, c.PerpetualStorageWiggleEngine = nil, nil
	return c.Normalized(c, fdb.Version{})
}

func creationConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	wanted := configurable(*must(a.Status(t.Context()))(t).Cluster.Configuration)
	wanted.Logs++
	err := a.Configure(t.Context(), wanted, admin.NewDatabase)
	if admin.KindOf(err) != admin.KindRefused {
		t.Errorf("got %v", err)
	}
}

func coordinatorsConform(t *testing.T, a admin.Admin, _ admin.KV) {
	before := must(a.ConnectionString(t.Context()))(t)
	after, err := a.ChangeCoordinators(t.Context(), before.Coordinators)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	unreachable := []fdb.Address{{Host: nobodysAddress, Port: 4501}}
	if got, err := a.ChangeCoordinators(t.Context(), unreachable); admin.KindOf(err) != admin.KindRefused {
		t.Errorf("an unreachable coordinator: got %s (%v)", got, err)
	}
	if diff := cmp.Diff(before, must(a.ConnectionString(t.Context()))(t)); diff != "" {
		t.Error(diff)
	}
}

func killConforms(t *testing.T, a admin.Admin, _ admin.KV) {
	err := a.Kill(t.Context(), []fdb.Address{{Host: nobodysAddress, Port: 4501}})
	if admin.KindOf(err) != admin.KindRefused {
		t.Errorf("got %v", err)
	}
}

func key(name string) []byte { return []byte(conformancePrefix + "/" + name) }

// write sets or, with nil, clears a key in a transaction of its own.
func write(t *testing.T, kv admin.KV, k, value []byte) {
	t.Helper()
	m := admin.Clear(k)
	if value != nil {
		m = admin.Set(k, value)
	}
	_, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(k)}, func(admin.View) ([]admin.Mutation, error) {
		return []admin.Mutation{m}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, kv admin.KV, k []byte) (value []byte, found bool) {
	t.Helper()
	_, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(k)}, func(v admin.View) ([]admin.Mutation, error) {
		value, found = v.Value(k)
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return value, found
}

func bytesConform(t *testing.T, _ admin.Admin, kv admin.KV) {
	everything := make([]byte, 256)
	for i := range everything {
		everything[i] = byte(i)
	}
	for name, value := range map[string][]byte{
		"every byte":                 everything,
		"a row in a value's clothes": []byte("x' is `y'"),
		"nothing":                    {},
		"an end of line":             []byte("a\r\nb; commit\n"),
		"the beginning of the help":  []byte("The following options are available to be set using the `option' command:"),
	} {
		k := append(key("bytes/"), everything[1:]...)
		write(t, kv, k, value)
		got, found := read(t, kv, k)
		if !found || !bytes.Equal(got, value) {
			t.Errorf("%s: got %q %v, want %q", name, got, found, value)
		}
		write(t, kv, k, nil)
		if got, found := read(t, kv, k); found {
			t.Errorf("%s: cleared, and still %q", name, got)
		}
	}
}

func readOnlyConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	calls := 0
	version, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(key("nobody"))}, func(v admin.View) ([]admin.Mutation, error) {
		calls++
		if value, found := v.Value(key("nobody")); found {
			t.Errorf("got %q", value)
		}
		return nil, nil
	})
	if err != nil || version != 0 || calls != 1 {
		t.Errorf("got version %d after %d calls (%v)", version, calls, err)
	}
	refusal := errors.New("no")
	if _, err := kv.Txn(t.Context(), nil, func(admin.View) ([]admin.Mutation, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refusal: got %v", err)
	}
}

func conflictConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	k := key("conflict")
	write(t, kv, k, []byte("old"))
	defer write(t, kv, k, nil)
	var seen []string
	version, err := kv.Txn(t.Context(), []admin.Read{admin.ReadKey(k)}, func(v admin.View) ([]admin.Mutation, error) {
		value, _ := v.Value(k)
		seen = append(seen, string(value))
		if len(seen) == 1 {
			write(t, kv, k, []byte("rival"))
		}
		return []admin.Mutation{admin.Set(k, append(value, '+'))}, nil
	})
	if err != nil || version == 0 {
		t.Fatalf("got version %d (%v)", version, err)
	}
	if diff := cmp.Diff([]string{"old", "rival"}, seen); diff != "" {
		t.Error(diff)
	}
	if got, _ := read(t, kv, k); string(got) != "rival+" {
		t.Errorf("got %q", got)
	}
}

func rangeConflictConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	begin, end := key("range/"), key("range0")
	var seen []int
	_, err := kv.Txn(t.Context(), []admin.Read{admin.ReadRange(begin, end)}, func(v admin.View) ([]admin.Mutation, error) {
		seen = append(seen, len(v.Within(begin, end)))
		if len(seen) == 1 {
			write(t, kv, key("range/rival"), []byte("x"))
		}
		return []admin.Mutation{admin.ClearRange(begin, end), admin.Set(key("alone"), nil)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1}, seen); diff != "" {
		t.Error(diff)
	}
	if _, found := read(t, kv, key("range/rival")); found {
		t.Error("the range was not cleared")
	}
	write(t, kv, key("alone"), nil)
}

func atomicityConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	_, err := kv.Txn(t.Context(), nil, func(admin.View) ([]admin.Mutation, error) {
		return []admin.Mutation{admin.Set(key("first"), []byte("1")), admin.Set(key("second"), make([]byte, 100_001))}, nil
	})
	if admin.KindOf(err) != admin.KindBadInput {
		t.Errorf("a value that is too long: got %v", err)
	}
	if value, found := read(t, kv, key("first")); found {
		t.Errorf("half of it was committed: %q", value)
	}
}

func lockConforms(t *testing.T, _ admin.Admin, kv admin.KV) {
	keys := fdb.LockKeys{Prefix: conformancePrefix + "/lock"}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	request := func(owner, nonce string, now time.Time) fdb.LockRequest {
		return fdb.LockRequest{Owner: owner, Now: now, Duration: time.Minute, Nonce: nonce}
	}
	refused := func(err error, want fdb.LockOutcome) {
		t.Helper()
		if held, ok := errors.AsType[*admin.LockHeldError](err); !ok || held.Decision.Outcome != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	mine := must(admin.TakeLock(t.Context(), kv, keys, request("dc1", "n1", now)))(t)
	_, err := admin.TakeLock(t.Context(), kv, keys, request("dc2", "n2", now))
	refused(err, fdb.LockHeld)

	if err := admin.UpdateDenyList(t.Context(), kv, keys, map[string]bool{"dc2": true}); err != nil {
		t.Fatal(err)
	}
	_, err = admin.TakeLock(t.Context(), kv, keys, request("dc2", "n2", now.Add(time.Hour)))
	refused(err, fdb.LockDenied)
	if err := admin.UpdateDenyList(t.Context(), kv, keys, map[string]bool{"dc2": false}); err != nil {
		t.Fatal(err)
	}

	theirs := must(admin.TakeLock(t.Context(), kv, keys, request("dc2", "n2", now.Add(time.Hour))))(t)
	if !theirs.Start.Equal(mine.Start) {
		t.Errorf("a take-over keeps the start %s, got %s", mine.Start, theirs.Start)
	}
	if err := admin.ReleaseLock(t.Context(), kv, keys, mine); err != nil {
		t.Fatal(err)
	}
	lock, denied, err := admin.ReadLock(t.Context(), kv, keys)
	if err != nil || lock == nil || !lock.HeldBy("dc2", "n2") || len(denied) > 0 {
		t.Errorf("got %+v, %v (%v)", lock, denied, err)
	}
	if err := admin.ReleaseLock(t.Context(), kv, keys, theirs); err != nil {
		t.Fatal(err)
	}
	if lock, _, err := admin.ReadLock(t.Context(), kv, keys); err != nil || lock != nil {
		t.Errorf("released, and still %+v (%v)", lock, err)
	}
}
