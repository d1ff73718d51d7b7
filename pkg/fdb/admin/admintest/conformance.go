package admintest

import (
	"context"
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
