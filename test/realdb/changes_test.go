package realdb

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// migrateEngine moves all data to another storage engine with the perpetual wiggle. The
// engine of the configuration is the new one at once; what counts is the engine of each
// storage process.
func migrateEngine(t *test) {
	c := create(t, "engine", doubled)
	c.mark(t, t.Name())
	const engine = "ssd-redwood-1"
	c.patch(t, `{"databaseConfiguration":{"storage_engine":"`+engine+`","storage_migration_type":"gradual","perpetual_storage_wiggle":1,"perpetual_storage_wiggle_locality":"0"}}`)
	c.reconcile(t)
	eventually(t, limit, func() string {
		var old []string
		for _, p := range c.status(t).Cluster.Processes {
			for _, role := range p.Roles {
				if role.Role == "storage" && role.Metadata.Engine != engine {
					old = append(old, p.group()+" has "+role.Metadata.Engine)
				}
			}
		}
		return strings.Join(old, ", ")
	})
	c.settled(t)
	c.discard(t)
}

// changePods changes the pod template: pods are deleted one fault domain at a time.
func changePods(t *test) {
	c := create(t, "pods", doubled)
	c.mark(t, t.Name())
	c.patch(t, `{"automationOptions":{"podUpdateStrategy":"Delete"},"processes":{"general":{"podTemplate":{"metadata":{"labels":{"journey":"pods"}}}}}}`)
	c.reconcile(t)
	if old := must(t, "kubectl", "get", "pods", "-n", c.ns, "-l", "journey!=pods", "-o", "name"); old != "" {
		t.Errorf("reconciled, and pods have the old template:\n%s", old)
	}
	c.settled(t)
	c.discard(t)
}

// race runs two passes on one cluster at once: they take turns, and the database ends with
// one configuration.
func race(t *test) {
	c := shared(t)
	want := len(c.of(t, "storage")) + 1
	c.patch(t, fmt.Sprintf(`{"processCounts":{"storage":%d}}`, want))
	var results [2]result
	var running sync.WaitGroup
	for i := range results {
		running.Go(func() {
			results[i] = run(t, "", "kubectl", "fdb", "reconcile", c.name, "-n", c.ns, "--yes", "--wait", "--timeout", "7m")
		})
	}
	running.Wait()
	for _, r := range results {
		if r.code != 0 {
			t.Errorf("one of two runs ended with exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	if got := len(c.of(t, "storage")); got != want {
		t.Errorf("two runs added storage process groups until there were %d, want %d", got, want)
	}
	c.settled(t)
}

// loseAVolume stops the node of a storage process with data, empties its volume, and starts
// the node again: the process comes back empty, and the database copies its data again.
func loseAVolume(t *test) {
	c := shared(t)
	lost := c.fullest(t)
	must(t, "fdb-sandbox", "node", "stop", lost.Node)
	t.Cleanup(func() { run(t, "", "fdb-sandbox", "node", "start", lost.Node) })
	must(t, "fdb-sandbox", "volume", "lose", "-n", c.ns, lost.Pod+"-data")
	must(t, "fdb-sandbox", "node", "start", lost.Node)
	eventually(t, 3*time.Minute, func() string {
		actual := c.status(t)
		for _, p := range actual.of(lost.ID) {
			for _, role := range p.Roles {
				if role.Role == "storage" && role.StoredBytes != nil && actual.Cluster.Data.State.Healthy {
					return ""
				}
			}
		}
		return fmt.Sprintf("%s has no storage again: %v", lost.ID, actual.facts())
	})
	c.reconcile(t)
	c.settled(t)
}
