package realdb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// byAddress is a cluster whose coordinators are known by the addresses of their pods, and keep no data.
const byAddress = `
routing: {useDNSInClusterFile: false}
databaseConfiguration: {redundancy_mode: double, storage_engine: ssd-2, logs: 2, resolvers: 1, proxies: 2}
processCounts: {storage: 3, log: 3, stateless: 2, coordinator: 3}
coordinatorSelection: [{processClass: coordinator, priority: 2}, {processClass: storage, priority: 1}]
`

// fillers take the addresses that are free, so that recreated pods of the cluster get others.
const fillers = `apiVersion: apps/v1
kind: Deployment
metadata: {name: fillers}
spec:
  replicas: 14
  selector: {matchLabels: {app: fillers}}
  template: {metadata: {labels: {app: fillers}}, spec: {containers: [{name: pause, image: pause}]}}
`

// moveAllAddresses deletes all pods of a cluster, which then have other addresses: the former
// coordinators are found by their files, and the connection string gets their new addresses.
func moveAllAddresses(t *test) {
	c := create(t, "moved", byAddress)
	c.mark(t, t.Name())
	c.must(t, "recover verify")
	former := c.connection(t)
	must(t, "kubectl", "delete", "pods", "-n", c.ns, "--all", "--grace-period", "1")
	c.fill(t)
	c.recreatePods(t)

	plan := c.recoveryPlan(t, "coordinators-moved")
	c.ends(t, 7, "recover apply", "--plan", plan) // without approval
	c.must(t, "recover apply", "--plan", plan, "--yes", "--reason", "test", "--timeout", "5m")
	c.recovered(t, former)
	c.must(t, "recover apply", "--plan", plan, "--yes", "--reason", "test") // it has nothing to do anymore
	c.completes(t)
	c.discard(t)
}

// loseCoordinators deletes two of three coordinators with their volumes: the state of the third one is
// copied to others.
func loseCoordinators(t *test) {
	c := create(t, "lost", byAddress)
	c.losesCoordinators(t)
	former := c.connection(t)
	c.copiesCoordination(t, former)
	c.completes(t)
	c.discard(t)
}

// loseCoordinatorsAndRecreate is the same after a pass has recreated the lost coordinators, with empty
// volumes and other addresses.
func loseCoordinatorsAndRecreate(t *test) {
	c := create(t, "recreated", byAddress)
	c.losesCoordinators(t)
	former := c.connection(t)
	c.fill(t)
	c.recreatePods(t)
	c.copiesCoordination(t, former)
	c.completes(t)
	c.discard(t)
}

// rebuildTheResource deletes the resource and keeps its objects: the manifest that is inferred from them is
// applied, no pod is replaced and no database created.
func rebuildTheResource(t *test) {
	c := create(t, "orphans", doubled)
	c.mark(t, t.Name())
	former, pods := c.connection(t), c.podUIDs(t)
	must(t, "kubectl", "delete", "fdb", c.name, "-n", c.ns, "--cascade=orphan")
	c.apply(t, c.must(t, "recover manifest"))
	c.reconcile(t)
	if now := c.podUIDs(t); now != pods {
		t.Errorf("pods %s, and were %s", now, pods)
	}
	if now := c.connection(t); now != former {
		t.Errorf("the connection string is %s, and was %s", now, former)
	}
	c.settled(t)
	c.discard(t)
}

// recoverFromVolumes deletes the resource with all its objects but the volumes, of a cluster whose
// coordinators have DNS names.
func recoverFromVolumes(t *test) { recoversFromVolumes(t, "volumes", doubled) }

// recoverFromVolumesByAddress does it with addresses: the recreated pods have others.
func recoverFromVolumesByAddress(t *test) { recoversFromVolumes(t, "addresses", byAddress) }

// recoversFromVolumes recovers a deleted resource: without its connection string nothing is; with it the
// volumes are bound again.
func recoversFromVolumes(t *test, name, spec string) {
	t.Helper()
	c := create(t, name, spec)
	c.mark(t, t.Name())
	former := c.connection(t)
	for volume := range strings.FieldsSeq(must(t, "kubectl", "get", "pvc", "-n", c.ns, "-o", "jsonpath={.items[*].spec.volumeName}")) {
		must(t, "kubectl", "patch", "pv", volume, "-p", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	}
	must(t, "kubectl", "delete", "fdb", c.name, "-n", c.ns)
	eventually(t, 2*time.Minute, func() string { return must(t, "kubectl", "get", "pods,pvc", "-n", c.ns, "-o", "name") })

	c.fill(t)
	c.apply(t, manifest(c.name, newest(), spec+"skip: true\n"))
	c.ends(t, 4, "recover plan")
	c.apply(t, manifest(c.name, newest(), spec+"skip: true\nseedConnectionString: "+former+"\n"))
	plan := c.recoveryPlan(t, "volumes-released")
	c.must(t, "recover apply", "--plan", plan, "--yes", "--reason", "test", "--timeout", "5m")
	c.apply(t, manifest(c.name, newest(), spec))
	c.reconcile(t)
	if now := c.connection(t); strings.Split(now, "@")[0] != strings.Split(former, "@")[0] {
		t.Errorf("the connection string is %s, and was %s", now, former)
	}
	c.completes(t)
	c.discard(t)
}

// podUIDs returns the UIDs of all pods, which change when a pod is replaced.
func (c *cluster) podUIDs(t *test) string {
	t.Helper()
	return must(t, "kubectl", "get", "pods", "-n", c.ns, "-o", "jsonpath={.items[*].metadata.uid}")
}

// losesCoordinators writes markers and deletes two of three coordinators, first their pods and then their
// volumes: nothing is lost while those exist.
func (c *cluster) losesCoordinators(t *test) {
	t.Helper()
	c.mark(t, t.Name())
	lost := c.of(t, "coordinator")[:2]
	for _, g := range lost {
		must(t, "kubectl", "delete", "pod", g.Pod, "-n", c.ns, "--grace-period", "1")
	}
	c.recoveryPlan(t, "pods-lost")
	for _, g := range lost {
		must(t, "kubectl", "delete", "pvc", g.Pod+"-data", "-n", c.ns)
	}
}

// copiesCoordination carries out a plan that copies the state of the coordinator that is left.
func (c *cluster) copiesCoordination(t *test, former string) {
	t.Helper()
	plan := c.recoveryPlan(t, "coordinators-lost")
	c.ends(t, 7, "recover apply", "--plan", plan, "--yes") // without the name of the cluster
	c.must(t, "recover apply", "--plan", plan, "--yes", "--confirm", c.name, "--reason", "test", "--timeout", "5m")
	c.recovered(t, former)
}

// recovered fails the test unless the database is available under its former name with other coordinators,
// with all markers.
func (c *cluster) recovered(t *test, former string) {
	t.Helper()
	now := c.connection(t)
	if name, _, _ := strings.Cut(former, "@"); !strings.HasPrefix(now, name+"@") || now == former {
		t.Errorf("the connection string is %s, and was %s", now, former)
	}
	if stored := c.fdbcli(t, `option on ACCESS_SYSTEM_KEYS; get \xff/coordinators`); !strings.Contains(stored, now) {
		t.Errorf("the database has another connection string than %s: %s", now, stored)
	}
	c.verify(t)
}

// completes has a pass do what a recovery leaves to it, and verifies the result.
func (c *cluster) completes(t *test) {
	t.Helper()
	c.reconcile(t)
	c.must(t, "recover verify", "--wait", "--timeout", "3m")
	c.settled(t)
}

func (c *cluster) connection(t *test) string {
	t.Helper()
	return must(t, "kubectl", "get", "fdb", c.name, "-n", c.ns, "-o", "jsonpath={.status.connectionString}")
}

func (c *cluster) fill(t *test) {
	t.Helper()
	c.apply(t, fillers)
	must(t, "kubectl", "wait", "-n", c.ns, "--for=condition=Available", "--timeout", "2m", "deployment/fillers")
}

// recreatePods has a pass create the pods that are missing. It ends before the database, which cannot
// become available.
func (c *cluster) recreatePods(t *test) {
	t.Helper()
	c.fdb(t, "reconcile", "--yes")
	must(t, "kubectl", "wait", "-n", c.ns, "--for=condition=Ready", "--timeout", "2m", "pods", "-l", "foundationdb.org/fdb-cluster-name="+c.name)
}

// recoveryPlan writes a plan of this kind to a file, once all that it needs can be read.
func (c *cluster) recoveryPlan(t *test, kind string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recovery.json")
	eventually(t, 3*time.Minute, func() string {
		r := c.fdb(t, "recover plan", "-o", "json")
		var document struct{ Plan struct{ Kind string } }
		if err := json.Unmarshal([]byte(r.stdout), &document); err != nil || r.code != 0 || document.Plan.Kind != kind {
			return fmt.Sprintf("no plan of kind %s: exit code %d: %s%s", kind, r.code, r.stdout, r.stderr)
		}
		if err := os.WriteFile(path, []byte(r.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	})
	return path
}
