package fdbsim

import (
	"testing"
	"time"
)

// engines are the storage engines at work, by how many servers have them.
func (c *cluster) engines() map[string]int {
	c.t.Helper()
	found := map[string]int{}
	for _, p := range c.status().Cluster.Processes {
		for _, r := range p.Roles {
			if r.Role == "storage" {
				found[r.Metadata.Engine]++
			}
		}
	}
	return found
}

func TestANewStorageEngineIsConfiguredBeforeItIsInUse(t *testing.T) {
	c := smallCluster(t)
	c.must("configure ssd-redwood-1 storage_migration_type=aggressive", "Configuration changed\n")
	c.Advance(40 * time.Second)
	d := c.status()
	if d.Cluster.Configuration["storage_engine"] != "ssd-redwood-1" || d.Cluster.Data.State.Name != "healthy" || c.engines()["ssd-2"] != 3 {
		t.Errorf("after 40 s: %v %s %v", d.Cluster.Configuration["storage_engine"], d.Cluster.Data.State.Name, c.engines())
	}
	c.Advance(25 * time.Second)
	if d := c.status(); d.Cluster.Data.State.Name != "healing" {
		t.Errorf("after 65 s: %s", d.Cluster.Data.State.Name)
	}
	c.Advance(15 * time.Second)
	if d := c.status(); d.Cluster.Data.State.Name != "healthy" || c.engines()["ssd-redwood-1"] != 3 {
		t.Errorf("after 80 s: %s %v", d.Cluster.Data.State.Name, c.engines())
	}
}

func TestAGradualStorageMigrationNeedsThePerpetualWiggle(t *testing.T) {
	c := smallCluster(t)
	c.exec("configure ssd-redwood-1 storage_migration_type=gradual")
	c.Advance(5 * time.Minute)
	if c.engines()["ssd-2"] != 3 {
		t.Errorf("without wiggle: %v", c.engines())
	}
	c.must("configure perpetual_storage_wiggle=1 perpetual_storage_wiggle_locality=instance_id:storage-2", "Configuration changed\n")
	c.Advance(5 * time.Minute)
	if got := c.engines(); got["ssd-redwood-1"] != 1 {
		t.Errorf("one server only: %v", got)
	}
	c.must("configure perpetual_storage_wiggle_locality=0", "Configuration changed\n")
	c.Advance(5 * time.Minute)
	if got := c.engines(); got["ssd-redwood-1"] != 3 {
		t.Errorf("in the end: %v", got)
	}
}
