package realdb

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// signalProcesses sends a signal to the fdbserver processes of a pod, from inside it, where no other is visible.
const signalProcesses = `sent=1; for p in /proc/[0-9]*; do if [ "$(cat $p/comm 2>/dev/null)" = fdbserver ]; then kill -s "$1" "${p#/proc/}" && sent=0; fi; done; exit $sent`

func (c *cluster) signal(t *test, pod, signal string) {
	t.Helper()
	must(t, "kubectl", "exec", "-n", c.ns, pod, "-c", "foundationdb", "--", "sh", "-c", signalProcesses, "sh", signal)
}

// killEachClass kills a process of each class with SIGKILL; its monitor starts it again.
func killEachClass(t *test) {
	c := shared(t)
	for _, class := range []string{"storage", "log", "stateless"} {
		g := c.of(t, class)[0]
		killed := time.Now()
		c.signal(t, g.Pod, "KILL")
		c.agrees(t)
		eventually(t, 2*time.Minute, func() string {
			processes := c.status(t).of(g.ID)
			const step = 6 * time.Second // uptimes advance by 5 s
			if len(processes) == 1 && processes[0].Uptime > 0 && processes[0].Uptime < (time.Since(killed)+step).Seconds() {
				return ""
			}
			return fmt.Sprintf("%s has %d processes in fdbcli after its end", g.ID, len(processes))
		})
		c.must(t, "wait", "--for=healthy", "--timeout", "3m")
		c.verify(t)
	}
	c.settled(t)
}

// freezeEachClass stops a process of each class from answering, without ending it. Documents are partial
// then, and late. No other pod of its class may go down meanwhile if it has data; a stateless one may, as
// the database recovers with others.
func freezeEachClass(t *test) {
	c := shared(t)
	for _, class := range []string{"storage", "log", "stateless"} {
		frozen, other := c.of(t, class)[0], c.of(t, class)[1]
		eventually(t, 4*time.Minute, func() string {
			if r := c.fdb(t, "can delete", "pod/"+other.Pod); r.code != 0 {
				return fmt.Sprintf("no other pod is down, and %s may not be deleted: exit code %d\n%s", other.Pod, r.code, r.stdout)
			}
			return ""
		})
		c.signal(t, frozen.Pod, "STOP")
		t.Cleanup(func() {
			run(t, "", "kubectl", "exec", "-n", c.ns, frozen.Pod, "-c", "foundationdb", "--", "sh", "-c", signalProcesses, "sh", "CONT")
		})
		end := time.Now().Add(30 * time.Second)
		c.record(t, "frozen-"+class)
		for time.Now().Before(end) {
			if r := c.fdb(t, "can delete", "pod/"+other.Pod); r.code == 0 && class != "stateless" {
				t.Errorf("%s does not answer, and %s may be deleted:\n%s", frozen.Pod, other.Pod, r.stdout)
			}
			if r := c.fdb(t, "status", "-o", "json"); r.code == 0 {
				t.Errorf("%s does not answer, and status ends with 0: %.1000s", frozen.Pod, r.stdout)
			}
			if r := c.fdb(t, "why"); r.code == 0 {
				t.Errorf("%s does not answer, and why ends with 0: %.1000s", frozen.Pod, r.stdout)
			}
		}
		c.record(t, "frozen-"+class+"-30s")
		c.signal(t, frozen.Pod, "CONT")
		c.must(t, "wait", "--for=healthy", "--timeout", "4m")
		c.verify(t)
	}
	c.settled(t)
}

// exceedTheDeadline has the cluster controller end the collection of each status after a moment, by knobs
// that set its deadline: documents are partial from then on, with a database that serves. Nothing may
// change a pod, a process or the database meanwhile. The way back is manual, as no gate passes.
func exceedTheDeadline(t *test) {
	c := create(t, "deadline", doubled)
	c.mark(t, t.Name())
	c.patch(t, `{"processes":{"general":{"customParameters":["knob_status_timeout=0.002","knob_status_timeout_buffer=0.001"]}}}`)
	eventually(t, 8*time.Minute, func() string {
		c.fdb(t, "reconcile", "--yes", "--timeout", "2m")
		if actual := c.fdbcli(t, "status json"); !strings.Contains(actual, "Status collection deadline exceeded.") {
			return "the document is whole"
		}
		return ""
	})
	c.record(t, "deadline")
	pods, exclusions := c.podUIDs(t), c.fdbcli(t, "exclude")
	c.patch(t, `{"processes":{"general":{"customParameters":[]}},"processCounts":{"storage":2}}`)
	for _, class := range []string{"storage", "log", "stateless"} {
		g := c.of(t, class)[0]
		if r := c.fdb(t, "can delete", "pod/"+g.Pod); r.code == 0 {
			t.Errorf("the document is partial, and %s may be deleted:\n%s", g.Pod, r.stdout)
		}
		if r := c.fdb(t, "exclude", g.ID, "--yes"); r.code == 0 {
			t.Errorf("the document is partial, and %s was excluded:\n%s", g.ID, r.stdout)
		}
	}
	for _, words := range []string{"can restart", "can upgrade --to " + newest(), "status", "wait --for=healthy --timeout 5s"} {
		if r := c.fdb(t, words); r.code == 0 {
			t.Errorf("the document is partial, and %s ends with 0:\n%s", words, r.stdout)
		}
	}
	if r := c.ends(t, 8, "why"); !strings.Contains(r.stdout, "status document is incomplete") {
		t.Errorf("why does not name the document: %s", r.stdout)
	}
	for range 3 {
		if r := c.fdb(t, "reconcile", "--yes", "--timeout", "1m"); r.code == 0 {
			t.Errorf("the document is partial, and a pass completes:\n%s", r.stdout)
		}
	}
	if now := c.podUIDs(t); now != pods {
		t.Errorf("the documents were partial, and pods %s became %s", pods, now)
	}
	if now := c.fdbcli(t, "exclude"); now != exclusions {
		t.Errorf("the documents were partial, and the exclusions %s became %s", exclusions, now)
	}
	c.verify(t)
	// The configuration without the knobs is in the pods; only the processes have to start again.
	for _, g := range c.groups(t) {
		c.signal(t, g.Pod, "KILL")
	}
	c.reconcileWithin(t, 8*time.Minute)
	c.settled(t)
	c.discard(t)
}

// fillTheDisks has processes require nearly all of a disk to be free, which counts as a full disk: no
// transaction starts. The limit is reported with the process whose disk it is, and the way back is an
// ordinary restart, since the database is available.
func fillTheDisks(t *test) {
	c := create(t, "disks", doubled)
	c.mark(t, t.Name())
	const knob = "knob_min_available_space_ratio=0.99"
	c.patch(t, `{"processes":{"general":{"customParameters":["`+knob+`"]}}}`)
	eventually(t, 6*time.Minute, func() string {
		c.fdb(t, "reconcile", "--yes", "--timeout", "2m")
		if r := c.fdb(t, "why", "--performance"); r.code != 1 || !strings.Contains(r.stdout, "storage-") || !strings.Contains(r.stdout, "storage_server_min_free_space") {
			return fmt.Sprintf("exit code %d, no disk limits: %s%s", r.code, r.stdout, r.stderr)
		}
		return ""
	})
	c.record(t, "full-disks")
	if r := c.fdb(t, "status", "-o", "json"); !strings.Contains(r.stdout, "storage_server_min_free_space") {
		t.Errorf("status names no limit: %s%s", r.stdout, r.stderr)
	}
	c.patch(t, `{"processes":{"general":{"customParameters":[]}}}`)
	c.reconcileWithin(t, 8*time.Minute)
	c.settled(t)
	c.discard(t)
}

// loseTheNames deletes the headless service, without which the names of the coordinators do not resolve. Addresses
// that are known are used on, so the database may serve; nothing may call another loss safe, and a pass creates
// the service again.
func loseTheNames(t *test) {
	c := create(t, "names", "routing: {useDNSInClusterFile: true}\n"+doubled)
	c.mark(t, t.Name())
	g, own := c.aCoordinator(t)
	name := own.Locality["dns_name"]
	if name == "" || !strings.Contains(c.connection(t), name) {
		t.Fatalf("%s has the name %q, and the connection string is %s", g.ID, name, c.connection(t))
	}
	resolves := func() bool {
		return run(t, "", "kubectl", "exec", "-n", c.ns, g.Pod, "-c", "foundationdb", "--", "getent", "ahosts", name).code == 0
	}
	if !resolves() {
		t.Fatalf("%s does not resolve at first", name)
	}
	must(t, "kubectl", "delete", "service", c.name, "-n", c.ns)
	eventually(t, time.Minute, func() string {
		if resolves() {
			return name + " still resolves"
		}
		return ""
	})
	// fdbcli looks coordinators up to find its own address, before it asks anything. The database runs on
	// meanwhile, without any proof, so nothing may be allowed.
	if r := run(t, "", "kubectl", "exec", "-n", c.ns, g.Pod, "-c", "foundationdb", "--", "fdbcli", "--timeout", "60", "--exec", "status json"); r.code != 1 || !strings.Contains(r.stdout+r.stderr, "Error determining public address.") {
		t.Errorf("fdbcli without a name of a coordinator: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := c.fdb(t, "status"); r.code == 0 {
		t.Errorf("status ends with 0 without a name of a coordinator:\n%s%s", r.stdout, r.stderr)
	}
	if r := c.fdb(t, "why"); r.code == 0 || !strings.Contains(r.stdout, "1. create service "+c.name) || !strings.Contains(r.stdout, "kubectl fdb reconcile "+c.name) {
		t.Errorf("why does not begin with the service of the names: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := c.fdb(t, "check", "--rules", "CONN", "--fail-on", "warning"); r.code == 0 || !strings.Contains(r.stdout, name) {
		t.Errorf("check does not name %s: exit code %d\n%s%s", name, r.code, r.stdout, r.stderr)
	}
	if r := c.fdb(t, "can delete", "pod/"+g.Pod); r.code == 0 {
		t.Errorf("no answer of the database is possible, and %s may be deleted:\n%s", g.Pod, r.stdout)
	}
	c.reconcile(t)
	eventually(t, time.Minute, func() string {
		if !resolves() {
			return name + " does not resolve again"
		}
		return ""
	})
	c.settled(t)
	c.discard(t)
}

// loseANode stops a node with a storage process that has data, and starts it again.
func loseANode(t *test) {
	c := shared(t)
	lost := c.fullest(t)
	must(t, "fdb-sandbox", "node", "stop", lost.Node)
	t.Cleanup(func() { run(t, "", "fdb-sandbox", "node", "start", lost.Node) })
	eventually(t, 2*time.Minute, func() string {
		if len(c.status(t).of(lost.ID)) > 0 {
			return lost.ID + " is still reported by fdbcli"
		}
		return ""
	})
	c.agrees(t)
	if got := c.claims(t).State; got != "degraded" {
		t.Errorf("status reports %q with a node lost, want degraded", got)
	}
	if r := c.ends(t, 1, "why", "-o", "json"); !strings.Contains(r.stdout, `"`+lost.ID+`"`) || !strings.Contains(r.stdout, lost.Node) {
		t.Errorf("why does not name %s and its node %s:\n%s", lost.ID, lost.Node, r.stdout)
	}
	c.verify(t)
	must(t, "fdb-sandbox", "node", "start", lost.Node)
	c.must(t, "wait", "--for=healthy", "--timeout", "5m")
	c.reconcile(t)
	c.settled(t)
}

// loseTheQuorum stops the nodes of all coordinators but one, and starts them again.
func loseTheQuorum(t *test) {
	c := shared(t)
	nodes := map[string]bool{}
	for _, g := range c.groups(t) {
		if g.Coordinator != nil && *g.Coordinator {
			nodes[g.Node] = true
		}
	}
	if len(nodes) != 3 {
		t.Fatalf("coordinators are on nodes %v, want three", nodes)
	}
	var stopped []string
	for node := range nodes {
		if len(stopped) < 2 {
			stopped = append(stopped, node)
		}
	}
	t.Cleanup(func() {
		for _, node := range stopped {
			run(t, "", "fdb-sandbox", "node", "start", node)
		}
	})
	for _, node := range stopped {
		must(t, "fdb-sandbox", "node", "stop", node)
	}
	eventually(t, 2*time.Minute, func() string {
		if actual := c.status(t); actual.Client.Coordinators.QuorumReachable {
			return "fdbcli still has a quorum"
		}
		return ""
	})
	if got := c.claims(t); got.State != "unavailable" || flag(got.Coordinators.QuorumReachable) != "false" {
		t.Errorf("status reports %q, quorum %s; want unavailable without a quorum", got.State, flag(got.Coordinators.QuorumReachable))
	}
	if r := c.ends(t, 1, "why"); !strings.Contains(r.stdout, "no quorum: ") {
		t.Errorf("why does not name the lost quorum:\n%s", r.stdout)
	}
	c.ends(t, 4, "coordinators repair", "--yes")
	for _, node := range stopped {
		must(t, "fdb-sandbox", "node", "start", node)
	}
	c.must(t, "wait", "--for=healthy", "--timeout", "5m")
	c.reconcile(t)
	c.settled(t)
}

// coordinates reports whether a process is a coordinator, by its address or by its DNS name, as the
// cluster file has it.
func (d document) coordinates(p process) bool {
	own := []string{withoutTLS(p.Address)}
	if name := p.Locality["dns_name"]; name != "" {
		_, port, _ := strings.Cut(own[0], ":")
		own = append(own, name+":"+port)
	}
	return slices.ContainsFunc(d.Client.Coordinators.Coordinators, func(c coordinator) bool { return slices.Contains(own, withoutTLS(c.Address)) })
}

func withoutTLS(address string) string { return strings.TrimSuffix(address, ":tls") }

// moveCoordinators moves a coordinator to another process.
func moveCoordinators(t *test) {
	c := shared(t)
	old, own := c.aCoordinator(t)
	c.must(t, "coordinators change", "--away-from", old.ID, "--yes", "--wait", "--timeout", "7m")
	if c.status(t).coordinates(own) {
		t.Errorf("coordinators were moved away from %s, and fdbcli still has %s", old.ID, own.Address)
	}
	c.reconcile(t)
	c.settled(t)
}

// aCoordinator returns a process group that is a coordinator, and its process.
func (c *cluster) aCoordinator(t *test) (group, process) {
	t.Helper()
	for _, g := range c.groups(t) {
		if g.Coordinator == nil || !*g.Coordinator {
			continue
		}
		actual := c.status(t)
		own := actual.of(g.ID)
		if len(own) != 1 || !actual.coordinates(own[0]) {
			t.Fatalf("%s is reported as a coordinator, and fdbcli has its processes %v and the coordinators %v", g.ID, own, actual.Client.Coordinators.Coordinators)
		}
		return g, own[0]
	}
	t.Fatal("no process group is a coordinator")
	return group{}, process{}
}

// repairCoordinators stops the node of a coordinator: the repair replaces it by another process while
// the node is stopped.
func repairCoordinators(t *test) {
	c := shared(t)
	lost, own := c.aCoordinator(t)
	must(t, "fdb-sandbox", "node", "stop", lost.Node)
	t.Cleanup(func() { run(t, "", "fdb-sandbox", "node", "start", lost.Node) })
	eventually(t, 2*time.Minute, func() string {
		if actual := c.status(t); len(actual.of(lost.ID)) > 0 {
			return lost.ID + " is still reported by fdbcli"
		}
		return ""
	})
	if r := c.fdb(t, "coordinators repair", "--yes", "--wait", "--timeout", "7m"); r.code != 0 {
		t.Fatalf("repair: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	actual := c.status(t)
	if actual.coordinates(own) {
		t.Errorf("repaired, and fdbcli still has the coordinator at %s", own.Address)
	}
	for _, one := range actual.Client.Coordinators.Coordinators {
		if !one.Reachable {
			t.Errorf("repaired, and fdbcli cannot reach the coordinator at %s", one.Address)
		}
	}
	c.verify(t)
	must(t, "fdb-sandbox", "node", "start", lost.Node)
	c.must(t, "wait", "--for=healthy", "--timeout", "5m")
	c.reconcile(t)
	c.settled(t)
}
