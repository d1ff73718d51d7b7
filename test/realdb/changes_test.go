package realdb

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
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

// changePods changes the pod template: pods are deleted one fault domain at a time, which are the nodes. A label
// alone is set without that.
func changePods(t *test) {
	c := create(t, "pods", doubled)
	c.mark(t, t.Name())
	stop, most := c.watchForLostNodes(t)
	c.patch(t, `{"automationOptions":{"podUpdateStrategy":"Delete"},"processes":{"general":{"podTemplate":{"metadata":{"labels":{"journey":"pods"}},"spec":{"terminationGracePeriodSeconds":20}}}}}`)
	c.reconcileWithin(t, 25*time.Minute) // after each fault domain, data distribution and recoveries settle
	stop()
	if *most != 1 {
		t.Errorf("all pods were deleted, and those of up to %d fault domains at once, want 1", *most)
	}
	if old := must(t, "kubectl", "get", "pods", "-n", c.ns, "-l", "journey!=pods", "-o", "name"); old != "" {
		t.Errorf("reconciled, and pods have the old template:\n%s", old)
	}
	for seconds := range strings.FieldsSeq(must(t, "kubectl", "get", "pods", "-n", c.ns, "-o", "jsonpath={.items[*].spec.terminationGracePeriodSeconds}")) {
		if seconds != "20" {
			t.Errorf("reconciled, and a pod may take %s s to end, want 20", seconds)
		}
	}
	c.settled(t)
	c.discard(t)
}

// watchForLostNodes counts, until it is stopped, on how many nodes of the present pods one is missing or does not run.
func (c *cluster) watchForLostNodes(t *test) (stop func(), most *int) {
	t.Helper()
	running := func() (nodes map[string]string, known bool) {
		nodes = map[string]string{}
		r := run(t, "", "kubectl", "get", "pods", "-n", c.ns, "--field-selector", "status.phase=Running", "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.metadata.deletionTimestamp}{"\n"}{end}`)
		for line := range strings.Lines(r.stdout) {
			if words := strings.Fields(line); len(words) == 2 { // a third is the time of its deletion
				nodes[words[0]] = words[1]
			}
		}
		return nodes, r.code == 0
	}
	before, known := running()
	if !known || len(before) == 0 {
		t.Fatalf("pods %v, known: %t", before, known)
	}
	most = new(int)
	return repeatedly(t, 500*time.Millisecond, func() {
		now, known := running()
		lost := map[string]bool{}
		for pod, node := range before {
			if _, runs := now[pod]; known && !runs {
				lost[node] = true
			}
		}
		*most = max(*most, len(lost))
	}), most
}

// repeatedly calls do beside the journey, with a pause before each time, until stop is called, which waits for its end.
func repeatedly(t *test, pause time.Duration, do func()) (stop func()) {
	t.Helper()
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ending:
				return
			case <-time.After(pause):
				do()
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(ending); <-ended })
	t.Cleanup(stop) // a journey may fail before it stops this
	return stop
}

// race runs two passes on one cluster at once: they take turns, and the database ends with
// one configuration. Without --join the second one ends if it finds the operation of the first.
func race(t *test) {
	c := shared(t)
	want := len(c.of(t, "storage")) + 1
	c.patch(t, fmt.Sprintf(`{"processCounts":{"storage":%d}}`, want))
	var results [2]result
	var running sync.WaitGroup
	for i := range results {
		running.Go(func() {
			results[i] = run(t, "", "kubectl", "fdb", "reconcile", c.name, "-n", c.ns, "--yes", "--wait", "--join", "--timeout", "7m")
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

// raceForTheLock replaces a process group of each of two resources of one database at once. Their
// control-plane instances have different names, so only the database lock excludes one of them
// while the other changes the database.
func raceForTheLock(t *test) {
	const spec = "faultDomain: {key: foundationdb.org/none}\nlockOptions: {disableLocks: false}\n" + doubled
	c := create(t, "first", "processGroupIDPrefix: first\n"+spec)
	c.mark(t, t.Name())
	other := &cluster{ns: c.ns, name: "second", markers: c.markers}
	other.apply(t, manifest(other.name, newest(), "processGroupIDPrefix: second\n"+spec+"seedConnectionString: "+c.connection(t)+"\n"))
	other.reconcileWithin(t, 7*time.Minute)

	both := []*cluster{c, other}
	old := []group{c.of(t, "stateless")[0], other.of(t, "stateless")[0]}
	lock := c.watchLock(t)
	var running sync.WaitGroup
	for i, one := range both {
		running.Go(func() { one.replaced(t, old[i].ID, removalLimit) })
	}
	running.Wait()
	values := lock()
	for i, one := range both {
		if !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, one.name) }) {
			t.Errorf("%s replaced a process group, and was never seen with the database lock: %q", one.name, values)
		}
		if left := c.status(t).of(old[i].ID); len(left) > 0 {
			t.Errorf("%s was replaced, and fdbcli has its process %s", old[i].ID, left[0].Address)
		}
	}
	c.reportsOwner(t, "") // both have ended
	c.reportsLock(t, values, both)
	c.settled(t)
	c.discard(t)
}

// reportsLock writes the last value that the key of the database lock had, and compares what the plugin reports of it. While
// a run has the lock it is too short for a comparison.
func (c *cluster) reportsLock(t *test, values []string, owners []*cluster) {
	t.Helper()
	if len(values) == 0 {
		return // reported as never seen
	}
	last := values[len(values)-1]
	c.fdbcli(t, "option on ACCESS_SYSTEM_KEYS; writemode on; set "+lockKey+" "+escaped(last))
	if value := c.lockValue(t, c.of(t, "storage")[0].Pod); value != last {
		t.Errorf("the lock has the value %q, want %q", value, last)
	}
	i := slices.IndexFunc(owners, func(one *cluster) bool { return strings.Contains(last, one.name) })
	if i < 0 {
		t.Fatalf("the value %q names no owner", last)
	}
	c.reportsOwner(t, owners[i].name)
	c.fdbcli(t, "option on ACCESS_SYSTEM_KEYS; writemode on; clear "+lockKey)
	c.reportsOwner(t, "")
}

// reportsOwner waits until the plugin reports that an owner holds the database lock; empty for none. During a recovery it is
// unknown.
func (c *cluster) reportsOwner(t *test, owner string) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		if reported, known := c.lockOwner(t); !known || reported != owner {
			return fmt.Sprintf("get locks reports the owner %q (known: %t), want %q", reported, known, owner)
		}
		return ""
	})
}

// replaced replaces a process group, and goes on while the other resource has the database lock.
func (c *cluster) replaced(t *test, id string, within time.Duration) {
	for end := time.Now().Add(within); ; time.Sleep(time.Second) {
		r := c.fdb(t, "replace", id, "--wait", "--yes", "--timeout", "7m")
		if r.code == 0 {
			return
		}
		if r.code != 3 && r.code != 6 || time.Now().After(end) {
			t.Errorf("replace %s: exit code %d\n%s%s", id, r.code, r.stdout, r.stderr)
			return
		}
	}
}

// lockKey is the key of the database lock.
const lockKey = `\xff\x02/org.foundationdb.kubernetes-operator/global`

// watchLock reads the database lock all the time, with the real fdbcli, until the result is called. That returns the
// values that it had, in the order in which they were first seen.
func (c *cluster) watchLock(t *test) (stop func() []string) {
	t.Helper()
	pod := c.of(t, "storage")[0].Pod
	var seen []string
	end := repeatedly(t, 100*time.Millisecond, func() {
		if value := c.lockValue(t, pod); value != "" && !slices.Contains(seen, value) {
			seen = append(seen, value)
		}
	})
	return func() []string { end(); return seen }
}

// lockValue is the value of the key of the database lock, as fdbcli reads it in a pod; empty if there is none, or none
// could be read.
func (c *cluster) lockValue(t *test, pod string) string {
	r := run(t, "", "kubectl", "exec", "-n", c.ns, pod, "-c", "foundationdb", "--", "fdbcli", "--timeout", "30", "--exec",
		"option on ACCESS_SYSTEM_KEYS; get "+lockKey)
	_, printed, found := strings.Cut(r.stdout, "' is `")
	printed, whole := strings.CutSuffix(strings.TrimSuffix(printed, "\n"), "'")
	if r.code != 0 || !found || !whole {
		return ""
	}
	return unescaped(printed)
}

// unescaped is the value that fdbcli prints: bytes that cannot be printed, and the backslash, are escaped.
func unescaped(printed string) string {
	return escapePattern.ReplaceAllStringFunc(printed, func(e string) string {
		if e == `\\` {
			return `\`
		}
		b, err := hex.DecodeString(e[2:])
		if err != nil {
			panic(err) // the pattern has two hexadecimal digits
		}
		return string(b)
	})
}

var escapePattern = regexp.MustCompile(`\\(\\|x[0-9a-f]{2})`)

// escaped is a value as an argument of fdbcli, with every byte escaped.
func escaped(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String()
}

// lockOwner is the control-plane instance that holds the database lock; empty if none does. It is unknown while the
// database cannot be read.
func (c *cluster) lockOwner(t *test) (owner string, known bool) {
	t.Helper()
	r := c.fdb(t, "get locks", "-o", "json")
	if r.code == 8 {
		return "", false
	}
	if r.code != 0 {
		t.Fatalf("get locks: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	locks := decode[struct {
		Items []struct{ Owner, State string }
	}](t, r.stdout).Items
	for _, lock := range locks {
		if lock.State == "held" {
			return lock.Owner, true
		}
	}
	return "", true
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
