package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Another region becomes primary by choice, and back: the priorities of both resources change together, the
// data is there, and nothing changes as long as a resource disagrees or the primary region is lost.
func TestARegionBecomesPrimaryAndBack(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	inRegions := func(dc, more string) string {
		return cluster(dc, fmt.Sprintf(`
processCounts: {storage: 3, log: 4, stateless: 2}
faultDomain: {key: foundationdb.org/none}
dataCenter: %[1]s
processGroupIDPrefix: %[1]s
`, dc)+more)
	}
	const one = "databaseConfiguration: {usable_regions: 1, regions: [{datacenters: [{id: dc1, priority: 1}]}]}\n"
	const two = "databaseConfiguration: {usable_regions: 2, regions: [{datacenters: [{id: dc1, priority: 1}]}, {datacenters: [{id: dc2, priority: 0}]}]}\n"
	apply(t, ns, inRegions("dc1", one))
	want(t, fdb(t, "reconcile", "dc1", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	seed := "seedConnectionString: " + kubectl(t, "get", "fdb", "dc1", "-n", ns, "-o", "jsonpath={.status.connectionString}") + "\n"
	apply(t, ns, inRegions("dc2", one+seed))
	want(t, fdb(t, "reconcile", "dc2", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "failover", "dc1", "-n", ns, "--to", "dc2", "--dry-run"), 2) // it has no such region
	apply(t, ns, inRegions("dc1", two))
	want(t, fdb(t, "reconcile", "dc1", "-n", ns, "--yes", "--wait", "--timeout", "8m"), 0)
	want(t, fdb(t, "cli", "dc1", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)

	refused := fdb(t, "failover", "dc1", "-n", ns, "--to", "dc2", "--yes") // the spec of dc2 has one region
	if refused.code == 0 || !strings.Contains(refused.stdout+refused.stderr, "dc2") || priorities(t, ns, "dc1") != "1 0" {
		t.Errorf("exit code %d, priorities %s: %s%s", refused.code, priorities(t, ns, "dc1"), refused.stdout, refused.stderr)
	}
	apply(t, ns, inRegions("dc2", two+seed))
	want(t, fdb(t, "reconcile", "dc2", "-n", ns, "--yes", "--wait", "--timeout", "8m"), 0)
	want(t, fdb(t, "failover", "dc1", "-n", ns, "--to", "dc2"), 7) // without approval

	for _, to := range []struct{ dc, priorities string }{{"dc2", "0 1"}, {"dc1", "1 0"}} {
		planned := plannedFailover(t, ns, to.dc)
		for _, part := range []string{"may be lost: nothing", "dc1: spec.databaseConfiguration.regions[0].datacenters[0].priority (dc1) from", "dc2: spec.databaseConfiguration.regions[1].datacenters[0].priority (dc2) from"} {
			if !strings.Contains(planned.stdout, part) {
				t.Errorf("no %q in %s", part, planned.stdout)
			}
		}
		want(t, fdb(t, "failover", "dc1", "-n", ns, "--to", to.dc, "--yes", "--wait", "--timeout", patience, "--reason", "test"), 0)
		if one, other := priorities(t, ns, "dc1"), priorities(t, ns, "dc2"); one != to.priorities || other != to.priorities {
			t.Errorf("priorities %s and %s, want %s", one, other, to.priorities)
		}
		if r := fdb(t, "cli", "dc1", "-n", ns, "--", "get marker; status json"); r.code != 0 || !strings.Contains(r.stdout, "4711") || !strings.Contains(strings.Join(strings.Fields(r.stdout), ""), `"active_primary_dc":"`+to.dc+`"`) {
			t.Errorf("after the failover to %s: exit code %d: %.400s%s", to.dc, r.code, r.stdout, r.stderr)
		}
		want(t, fdb(t, "failover", "dc1", "-n", ns, "--to", to.dc, "--yes"), 0) // nothing is left to do
	}

	kubectl(t, "delete", "pods", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=dc1", "--grace-period", "1")
	lost := fdb(t, "failover", "dc2", "-n", ns, "--to", "dc2", "--dry-run")
	if lost.code == 0 || strings.Contains(lost.stdout, "SetPriorities") || !strings.Contains(lost.stdout, "may be lost") || priorities(t, ns, "dc2") != "1 0" {
		t.Errorf("exit code %d without the primary region: %s%s", lost.code, lost.stdout, lost.stderr)
	}
	namesLostRegion(t, ns)
	want(t, fdb(t, "reconcile", "dc1", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "recover", "verify", "dc2", "-n", ns, "--wait", "--timeout", patience), 0)
	if r := fdb(t, "cli", "dc1", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
}

// namesLostRegion verifies the plans of both resources while the pods of dc1, and with them most coordinators, are
// lost: that of dc2 has no steps and names the other one's plan, which has them.
func namesLostRegion(t *testing.T, ns string) {
	t.Helper()
	var lost struct {
		Plan struct {
			Kind                               string
			Steps, Manual, Obstacles, Evidence []string
		}
	}
	r := fdb(t, "recover", "plan", "dc2", "-n", ns, "-o", "json")
	if err := json.Unmarshal([]byte(r.stdout), &lost); err != nil {
		t.Fatal(err, r.stdout, r.stderr)
	}
	if p := lost.Plan; r.code != 4 || p.Kind != "region-lost" || len(p.Steps) > 0 || len(p.Obstacles) == 0 || !strings.Contains(strings.Join(p.Manual, " "), "kubectl fdb recover plan NAME") || !strings.Contains(strings.Join(p.Evidence, " "), "dc1-log-") {
		t.Errorf("exit code %d without dc1: %s%s", r.code, r.stdout, r.stderr)
	}
	r = fdb(t, "recover", "plan", "dc1", "-n", ns, "-o", "json")
	if err := json.Unmarshal([]byte(r.stdout), &lost); err != nil || r.code != 0 || lost.Plan.Kind != "pods-lost" || len(lost.Plan.Steps) == 0 {
		t.Errorf("exit code %d of dc1: %s%s", r.code, r.stdout, r.stderr)
	}
}

// plannedFailover returns the plan, once the last change of the configuration is long enough ago.
func plannedFailover(t *testing.T, ns, dc string) result {
	t.Helper()
	for range 60 {
		if r := fdb(t, "failover", "dc1", "-n", ns, "--to", dc, "--dry-run"); r.code == 1 && strings.Contains(r.stdout, "~ priorities of regions") && !strings.Contains(r.stdout, "the failover to") {
			return r
		}
		time.Sleep(2 * time.Second)
	}
	t.Fatal(fdb(t, "failover", "dc1", "-n", ns, "--to", dc, "--dry-run").stdout)
	return result{}
}

// priorities returns those of the regions in a spec.
func priorities(t *testing.T, ns, name string) string {
	t.Helper()
	text := kubectl(t, "get", "fdb", name, "-n", ns, "-o", "jsonpath={range .spec.databaseConfiguration.regions[*]}{.datacenters[0].priority} {end}")
	return strings.TrimSpace(text)
}
