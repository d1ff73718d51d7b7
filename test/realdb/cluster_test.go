package realdb

import (
	"fmt"
	"strings"
	"time"
)

// cluster is a cluster of the sandbox with the markers that were written to it.
type cluster struct {
	ns, name string
	// markers are the names of the sets of marker keys in its database.
	markers []string
}

// newest is the version of the programs that FDB_BIN names last.
func newest() string { return given[len(given)-1].Version }

// manifest is a small cluster; more is put below its spec.
func manifest(name, version, more string) string {
	text := fmt.Sprintf(`apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata:
  name: %s
spec:
  version: %s
  minimumUptimeSecondsForBounce: 60
  processes:
    general:
      podTemplate:
        spec:
          containers:
          - name: foundationdb
            resources: {requests: {cpu: 10m, memory: 16Mi}}
          - name: foundationdb-kubernetes-sidecar
            resources: {requests: {cpu: 10m, memory: 16Mi}}
      volumeClaimTemplate:
        spec: {resources: {requests: {storage: 1Gi}}}
`, name, version)
	for line := range strings.Lines(strings.TrimSpace(more)) {
		text += "  " + strings.TrimRight(line, "\n") + "\n"
	}
	return text
}

const doubled = `
databaseConfiguration: {redundancy_mode: double, storage_engine: ssd-2, logs: 2, resolvers: 1, proxies: 2}
processCounts: {storage: 3, log: 3, stateless: 3}
`

// create creates a cluster of the newest version in a namespace of its own.
func create(t *test, name, more string) *cluster {
	t.Helper()
	return createOf(t, newest(), name, more)
}

func createOf(t *test, version, name, more string) *cluster {
	t.Helper()
	c := inNamespace(t, name)
	c.apply(t, manifest(name, version, more))
	c.reconcile(t)
	return c
}

// inNamespace returns a cluster that is not applied yet, with its namespace.
func inNamespace(t *test, name string) *cluster {
	t.Helper()
	c := &cluster{ns: "real-" + name, name: name}
	must(t, "kubectl", "create", "namespace", c.ns)
	return c
}

// apply applies objects in the namespace of the cluster.
func (c *cluster) apply(t *test, text string) {
	t.Helper()
	if r := run(t, text, "kubectl", "apply", "-n", c.ns, "-f", "-"); r.code != 0 {
		t.Fatalf("applying: %s%s", r.stdout, r.stderr)
	}
}

// discard ends the processes of a cluster that no other journey uses. The API server
// removes its objects meanwhile.
func (c *cluster) discard(t *test) {
	t.Helper()
	must(t, "kubectl", "delete", "namespace", c.ns, "--wait=false")
}

// shared returns a healthy cluster with two copies of all data, three process groups of each
// class, and markers of this journey. A journey that fails may leave a broken one behind, so
// the next one gets another.
func shared(t *test) *cluster {
	t.Helper()
	s := t.sandbox
	if s.shared == nil {
		s.clusters++
		s.shared = create(t, fmt.Sprintf("c%d", s.clusters), doubled)
	}
	c := s.shared
	t.Cleanup(func() {
		if t.Failed() && s.shared == c {
			s.shared = nil
		}
	})
	c.mark(t, fmt.Sprintf("%s-%d", t.Name(), len(c.markers)))
	return c
}

// fdb runs `kubectl fdb` on the cluster, through kubectl, as a user does. words are a command
// and its subcommand.
func (c *cluster) fdb(t *test, words string, args ...string) result {
	t.Helper()
	line := append(append([]string{"fdb"}, strings.Fields(words)...), "-n", c.ns, "--fdb-cluster", c.name)
	began := time.Now()
	r := run(t, "", "kubectl", append(line, args...)...)
	t.Logf("kubectl fdb %s %s: exit code %d after %s", words, strings.Join(args, " "), r.code, time.Since(began).Round(time.Second/10))
	return r
}

// must runs `kubectl fdb` on the cluster and fails the test unless it succeeds.
func (c *cluster) must(t *test, words string, args ...string) string {
	t.Helper()
	return c.ends(t, 0, words, args...).stdout
}

// ends runs `kubectl fdb` on the cluster and fails the test unless it ends with a code.
func (c *cluster) ends(t *test, code int, words string, args ...string) result {
	t.Helper()
	r := c.fdb(t, words, args...)
	if r.code != code {
		t.Fatalf("kubectl fdb %s %s: exit code %d, want %d\n%s%s", words, strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
	}
	return r
}

func (c *cluster) reconcile(t *test) {
	t.Helper()
	c.must(t, "reconcile", "--yes", "--wait", "--timeout", "7m")
}

// reconcileWithin repeats a reconciliation that takes longer than one command may.
func (c *cluster) reconcileWithin(t *test, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; {
		r := c.fdb(t, "reconcile", "--yes", "--wait", "--timeout", "7m")
		if r.code == 0 {
			return
		}
		if r.code != 3 || time.Now().After(end) {
			t.Fatalf("reconcile: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
}

// patch merges JSON into the spec.
func (c *cluster) patch(t *test, spec string) {
	t.Helper()
	must(t, "kubectl", "patch", "fdb", c.name, "-n", c.ns, "--type", "merge", "-p", `{"spec":`+spec+`}`)
}

// group is a process group as `get process-groups` reports it.
type group struct {
	ID, Class, Pod, Node string
	Addresses            []string
	Processes            *int
	Coordinator          *bool
	Exclusion            string
	RemovalSince         *string
	StoredBytes          *int64
}

func (c *cluster) groups(t *test) []group {
	t.Helper()
	return decode[struct{ Items []group }](t, c.must(t, "get process-groups", "-o", "json")).Items
}

// of returns the process groups of a class that are not marked for removal, and fails the
// test if there is none.
func (c *cluster) of(t *test, class string) []group {
	t.Helper()
	var all []group
	for _, g := range c.groups(t) {
		if g.Class == class && g.RemovalSince == nil {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no process group of class %s", class)
	}
	return all
}
