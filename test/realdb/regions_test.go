package realdb

import (
	"fmt"
	"strings"
	"time"
)

// oneRegion is a data center of a database whose primary region is dc1. Each pod is a fault domain, as
// coordinators of several regions need nine.
const oneRegion = `
faultDomain: {key: foundationdb.org/none}
dataCenter: %[1]s
processGroupIDPrefix: %[1]s
databaseConfiguration: {redundancy_mode: double, storage_engine: ssd-2, logs: 2, usable_regions: 1, regions: [{datacenters: [{id: dc1, priority: 1}]}]}
processCounts: {storage: 3, log: 4, stateless: 4}
`

// twoRegions adds a second region to a database and removes it again, with one resource per data center.
func twoRegions(t *test) {
	c := create(t, "dc1", fmt.Sprintf(oneRegion, "dc1"))
	c.mark(t, t.Name())
	other := &cluster{ns: c.ns, name: "dc2", markers: c.markers}
	other.apply(t, manifest(other.name, newest(), fmt.Sprintf(oneRegion, "dc2")+"seedConnectionString: "+c.connection(t)+"\n"))
	other.reconcileWithin(t, 7*time.Minute)

	c.changesRegions(t, other, 2, `{"databaseConfiguration":{"usable_regions":2,"regions":[{"datacenters":[{"id":"dc1","priority":1}]},{"datacenters":[{"id":"dc2","priority":0}]}]}}`)
	if holders := c.storageIn(t, "dc2"); holders == 0 {
		t.Error("two regions are usable, and no storage process of dc2 has data")
	}
	for _, to := range []string{"dc2", "dc1"} {
		c.failsOver(t, to)
	}
	c.changesRegions(t, other, 1, `{"databaseConfiguration":{"usable_regions":1,"regions":[{"datacenters":[{"id":"dc1","priority":1}]}]}}`)
	if holders := c.storageIn(t, "dc2"); holders > 0 {
		t.Errorf("the second region was removed, and %d storage processes of dc2 have data", holders)
	}
	c.discard(t)
}

// changesRegions patches both resources, reconciles them, and compares the result with the database.
func (c *cluster) changesRegions(t *test, other *cluster, usable int, spec string) {
	t.Helper()
	for _, one := range []*cluster{c, other} {
		one.patch(t, spec)
	}
	for _, one := range []*cluster{c, other} {
		one.reconcileWithin(t, 15*time.Minute)
	}
	if got := c.status(t).Cluster.Configuration.UsableRegions; got != usable {
		t.Errorf("reconciled, and fdbcli has %d usable regions, want %d", got, usable)
	}
	c.settled(t)
	other.verify(t)
}

// failsOver makes the region of a data center primary, and compares the result with the database.
func (c *cluster) failsOver(t *test, to string) {
	t.Helper()
	eventually(t, 5*time.Minute, func() string {
		if r := c.fdb(t, "failover", "--to", to, "--yes", "--wait", "--timeout", "4m", "--reason", "test"); r.code != 0 {
			return fmt.Sprintf("failover to %s: exit code %d\n%s%s", to, r.code, r.stdout, r.stderr)
		}
		return ""
	})
	if got := c.status(t).Cluster.ActivePrimaryDC; got != to {
		t.Errorf("failed over to %s, and fdbcli has %q as primary", to, got)
	}
	c.verify(t)
}

// storageIn counts the storage roles in a data center.
func (c *cluster) storageIn(t *test, dataCenter string) (n int) {
	t.Helper()
	for _, p := range c.status(t).Cluster.Processes {
		for _, role := range p.Roles {
			if role.Role == "storage" && strings.HasPrefix(p.group(), dataCenter+"-") {
				n++
			}
		}
	}
	return n
}
