package realdb

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// excludeAndInclude excludes a process group with data until it is safe to remove, and includes it again as
// soon as that is allowed.
func excludeAndInclude(t *test) {
	c := shared(t)
	c.patch(t, `{"processCounts":{"storage":4}}`)
	c.reconcile(t)
	g := c.fullest(t)
	c.must(t, "exclude", g.ID, "--wait", "--yes", "--timeout", "7m")
	// Process groups that were removed before can still be excluded.
	if safe := c.provenByTheDatabase(t); !slices.Contains(safe, g.ID) {
		t.Errorf("%s was excluded, and only %v are called safe", g.ID, safe)
	}
	eventually(t, 15*time.Minute, func() string { // it waits until ten minutes after the last recovery
		r := c.fdb(t, "include", g.ID, "--yes")
		if r.code != 0 && r.code != 3 {
			t.Fatalf("include: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		if r.code == 0 {
			return ""
		}
		time.Sleep(20 * time.Second)
		return r.stdout + r.stderr
	})
	if excluded := c.fdbcli(t, "exclude"); strings.Contains(excluded, g.ID) {
		t.Errorf("include ended %s's exclusion, and fdbcli has:\n%s", g.ID, excluded)
	}
	eventually(t, time.Minute, func() string {
		for _, e := range c.groups(t) {
			if e.ID == g.ID && e.Exclusion != "none" {
				return fmt.Sprintf("%s is included in the database, and reported as %q", g.ID, e.Exclusion)
			}
		}
		return ""
	})
	c.reconcile(t)
	c.settled(t)
}

// maintain puts a zone under maintenance and ends that again.
func maintain(t *test) {
	c := shared(t)
	zone := c.status(t).of(c.fullest(t).ID)[0].Locality["zoneid"]
	c.must(t, "maintenance on", zone, "--for", "10m", "--wait", "--timeout", "5m")
	if actual := c.fdbcli(t, "maintenance"); !strings.Contains(actual, zone) {
		t.Errorf("fdbcli knows no maintenance of %s: %s", zone, actual)
	}
	c.agrees(t)
	c.must(t, "maintenance off")
	if actual := c.fdbcli(t, "maintenance"); strings.Contains(actual, zone) {
		t.Errorf("fdbcli still has a maintenance of %s: %s", zone, actual)
	}
	c.settled(t)
}

// deny denies the database lock to the control-plane instance of the test: what changes the
// database is refused, until it is allowed again.
func deny(t *test) {
	c := create(t, "denied", "processGroupIDPrefix: mine\nlockOptions: {disableLocks: false}\n"+doubled)
	c.mark(t, t.Name())
	c.must(t, "locks deny", "mine", "--yes")
	before := c.status(t).Cluster.Configuration
	c.ends(t, 6, "maintenance on", c.of(t, "storage")[0].Node, "--for", "10m")
	c.patch(t, `{"databaseConfiguration":{"redundancy_mode":"single"}}`)
	c.ends(t, 6, "reconcile", "--yes")
	if after := c.status(t).Cluster.Configuration; after != before {
		t.Errorf("denied, and the configuration changed from %v to %v", before, after)
	}
	c.must(t, "locks allow", "mine")
	c.reconcileWithin(t, 15*time.Minute) // fewer coordinators are chosen five minutes after the recovery
	if got := c.status(t).Cluster.Configuration.RedundancyMode; got != "single" {
		t.Errorf("allowed again and reconciled, and fdbcli has redundancy mode %q, want single", got)
	}
	c.settled(t)
	c.discard(t)
}

// changeKnobs changes a knob of all classes, and compares the command lines of the processes.
func changeKnobs(t *test) {
	c := shared(t)
	const knob = "knob_max_trace_lines=900001"
	c.patch(t, `{"processes":{"general":{"customParameters":["`+knob+`"]}}}`)
	c.reconcile(t)
	for address, p := range c.status(t).Cluster.Processes {
		if !strings.Contains(p.CommandLine, knob) {
			t.Errorf("reconciled, and %s at %s runs without the knob: %s", p.group(), address, p.CommandLine)
		}
	}
	c.settled(t)
}

// upgrade creates a cluster of the version that FDB_BIN names first, and upgrades it to the
// one named last.
func upgrade(t *test) {
	from, to := given[0].Version, newest()
	c := createOf(t, from, "upgraded", doubled)
	c.mark(t, t.Name())
	c.runs(t, from)
	// All connections of a sandbox come from 127.0.0.1, so the servers among the clients are not
	// recognized by the address of their pod, and have the old protocol.
	c.patch(t, fmt.Sprintf(`{"version":%q,"automationOptions":{"ignoreLogGroupsForUpgrade":[%q,"default"]}}`, to, c.name))
	// All transaction pods are replaced, and coordinators move only 5 min after the last of the
	// recoveries that this causes.
	c.reconcileWithin(t, 20*time.Minute)
	c.must(t, "wait", "--for=version="+to, "--timeout", "5m")
	c.runs(t, to)
	c.settled(t)
	c.discard(t)
}

// runs fails the test unless all processes of the real status have a version.
func (c *cluster) runs(t *test, version string) {
	t.Helper()
	processes := c.status(t).Cluster.Processes
	if len(processes) == 0 {
		t.Error("fdbcli has no process")
	}
	for address, p := range processes {
		if p.Version != version {
			t.Errorf("%s at %s runs %s, want %s", p.group(), address, p.Version, version)
		}
	}
}
