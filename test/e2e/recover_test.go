package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// byIPAddress is a cluster whose coordinators are known by the addresses of their pods.
const byIPAddress = `
processCounts: {storage: 3, log: 4, stateless: 2}
routing: {useDNSInClusterFile: false}
`

// pods that take the addresses that are free, so that recreated pods of the cluster get others.
const others = `apiVersion: apps/v1
kind: Deployment
metadata: {name: others}
spec:
  replicas: 12
  selector: {matchLabels: {app: others}}
  template: {metadata: {labels: {app: others}}, spec: {containers: [{name: pause, image: pause}]}}
`

// Every pod of a cluster is lost and gets another address: no quorum answers, the plan has the new
// addresses under the old name, and a marker key outlives it all. It has a sandbox of its own: a server of another
// cluster that got one of the former addresses answers there as a coordinator.
func TestCoordinatorsAreRecoveredAtNewPodAddresses(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	apply(t, ns, cluster("c", byIPAddress))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "cli", "c", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)
	want(t, fdb(t, "recover", "collect", "c", "-n", ns), 0)
	want(t, fdb(t, "recover", "verify", "c", "-n", ns), 0)
	former := connectionString(t, ns)

	kubectl(t, "delete", "pods", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=c", "--grace-period", "1")
	apply(t, ns, others)
	kubectl(t, "wait", "-n", ns, "--for=condition=Available", "--timeout", patience, "deployment/others")
	if r := fdb(t, "recover", "plan", "c", "-n", ns); r.code != 0 || !strings.Contains(r.stdout, "pods-lost") {
		t.Errorf("exit code %d without pods: %s%s", r.code, r.stdout, r.stderr)
	}
	fdb(t, "reconcile", "c", "-n", ns, "--yes") // it creates the pods, and then waits for a database
	kubectl(t, "wait", "-n", ns, "--for=condition=Ready", "--timeout", patience, "pods", "-l", "foundationdb.org/fdb-cluster-name=c")

	plan := plannedRecovery(t, ns)
	refusesEditedPlans(t, ns, plan)
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan), 7) // without approval
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--timeout", patience), 0)
	want(t, fdb(t, "recover", "verify", "c", "-n", ns, "--wait", "--timeout", patience), 0)
	now := connectionString(t, ns)
	if name, _, _ := strings.Cut(former, "@"); !strings.HasPrefix(now, name+"@") || now == former {
		t.Errorf("the connection string is %s, and was %s", now, former)
	}
	if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes"), 0) // the same plan again
	want(t, fdb(t, "connection-string", "drift", "c", "-n", ns), 0)
}

// withCoordinatorPods is a cluster whose coordinators keep no data.
const withCoordinatorPods = `
processCounts: {storage: 3, log: 4, stateless: 2, coordinator: 3}
coordinatorSelection: [{processClass: coordinator, priority: 2}, {processClass: storage, priority: 1}]
routing: {useDNSInClusterFile: false}
`

// Two of three coordinators are lost with their volumes: their state is copied from the third one to
// processes that were none, and a marker key outlives it.
func TestLostCoordinatorsAreReplacedFromTheRemainingOne(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	former := losesCoordinators(t, ns)
	plan := plannedRecovery(t, ns)
	refusesEditedPlans(t, ns, plan)
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes"), 7) // without the name
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--confirm", "d", "--reason", "test"), 7)
	copiesCoordination(t, ns, plan, former)
	copiesCoordination(t, ns, plan, former) // the same plan again
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "recover", "verify", "c", "-n", ns, "--wait", "--timeout", patience), 0)
}

// A pass has recreated the lost coordinators, with empty volumes and other addresses.
func TestLostCoordinatorsAreReplacedAfterTheirPodsWereRecreated(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	former := losesCoordinators(t, ns)
	apply(t, ns, others)
	kubectl(t, "wait", "-n", ns, "--for=condition=Available", "--timeout", patience, "deployment/others")
	fdb(t, "reconcile", "c", "-n", ns, "--yes") // it creates the pods, and then waits for a database
	kubectl(t, "wait", "-n", ns, "--for=condition=Ready", "--timeout", patience, "pods", "-l", "foundationdb.org/fdb-cluster-name=c")
	plan := plannedRecovery(t, ns)
	copiesCoordination(t, ns, plan, former)
	want(t, fdb(t, "recover", "verify", "c", "-n", ns, "--wait", "--timeout", patience), 0)
}

// losesCoordinators makes a cluster with a marker key, and deletes two of three coordinators. It returns
// the connection string.
func losesCoordinators(t *testing.T, ns string) string {
	t.Helper()
	apply(t, ns, cluster("c", withCoordinatorPods))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "cli", "c", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)
	pods := strings.Fields(kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-process-class=coordinator", "-o", "jsonpath={.items[*].metadata.name}"))
	if len(pods) != 3 {
		t.Fatal(pods)
	}
	for _, pod := range pods[:2] {
		kubectl(t, "delete", "pod", pod, "-n", ns, "--grace-period", "1")
	}
	plannedKind(t, ns, "pods-lost") // all PVCs exist: nothing is lost
	for _, pod := range pods[:2] {
		kubectl(t, "delete", "pvc", pod+"-data", "-n", ns)
	}
	return connectionString(t, ns)
}

// copiesCoordination carries out a plan with a declared loss, and verifies the marker key.
func copiesCoordination(t *testing.T, ns, plan, former string) {
	t.Helper()
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--confirm", "c", "--reason", "test", "--timeout", patience), 0)
	now := connectionString(t, ns)
	if name, _, _ := strings.Cut(former, "@"); !strings.HasPrefix(now, name+"@") || now == former {
		t.Errorf("the connection string is %s, and was %s", now, former)
	}
	if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
}

// plannedRecovery writes the plan to a file, once all pods can be read.
func plannedRecovery(t *testing.T, ns string) string {
	t.Helper()
	for end := time.Now().Add(stall); time.Now().Before(end); {
		r := fdb(t, "recover", "plan", "c", "-n", ns, "-o", "json")
		if r.code == 0 {
			return file(t, "recovery.json", r.stdout)
		}
		time.Sleep(2 * time.Second)
	}
	t.Fatal(fdb(t, "recover", "plan", "c", "-n", ns).stdout)
	return ""
}

// refusesEditedPlans verifies that a plan with another target is not carried out.
func refusesEditedPlans(t *testing.T, ns, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	document["plan"].(map[string]any)["to"] = "c:abc@127.0.0.1:1"
	edited, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", file(t, "edited.json", string(edited)), "--yes"), 2)
}

// Too many processes are excluded, and the next recovery finds too few. The steps that the plan describes
// bring the database back.
func TestRecoverPlanRestoresADatabaseDownFromTooManyExclusions(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	apply(t, ns, cluster("c", byIPAddress))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "cli", "c", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)
	addresses := strings.Fields(kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=c", "-o", "jsonpath={.items[*].status.podIP}"))
	want(t, fdb(t, "cli", "c", "-n", ns, "--yes", "--", "exclude FORCE no_wait "+strings.Join(addresses[1:], " ")), 0)
	for pod := range strings.FieldsSeq(kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-process-class=stateless", "-o", "name")) {
		kubectl(t, "exec", "-n", ns, pod, "-c", "foundationdb", "--", "sh", "-c", `for p in /proc/[0-9]*; do if [ "$(cat $p/comm 2>/dev/null)" = fdbserver ]; then kill ${p#/proc/}; fi; done`)
	}
	var r result
	planned := func() bool {
		r = fdb(t, "recover", "plan", "c", "-n", ns)
		return r.code == 4 && strings.Contains(r.stdout, "recruiting_transaction_servers") &&
			strings.Contains(r.stdout, "kubectl fdb reconcile c --set processCounts.log=6 --set processCounts.stateless=3")
	}
	for end := time.Now().Add(stall); !planned() && time.Now().Before(end); {
		time.Sleep(2 * time.Second)
	}
	if !planned() {
		t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	r = fdb(t, "reconcile", "c", "-n", ns, "--set", "processCounts.log=6", "--set", "processCounts.stateless=3", "--yes", "--timeout", "2m")
	t.Log(r.stdout, r.stderr) // the exclusions are still in place
	for end := time.Now().Add(stall); time.Now().Before(end); {
		if r = fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code == 0 && strings.Contains(r.stdout, "4711") {
			disksFill(t, ns)
			return
		}
		time.Sleep(2 * time.Second)
	}
	t.Errorf("the marker is not back: %s%s", r.stdout, r.stderr)
}

// disksFill has all disks of a database report too little free space: it is available and accepts no commits.
// The plan names the disks and what to do, and why --performance names them as the limit.
func disksFill(t *testing.T, ns string) {
	t.Helper()
	sandbox := func(args ...string) {
		t.Helper()
		want(t, run(t, "fdb-sandbox", append([]string{"db", "--dir", filepath.Dir(kubeconfigOf(t))}, args...)...), 0)
	}
	database := connectionString(t, ns)
	sandbox("slow", database, "--full-disks")
	r := fdb(t, "recover", "plan", "c", "-n", ns)
	for _, part := range []string{"nothing-lost", "the disk of log-", "the disk of storage-", "5% required", "delete no PVC", "expand the PVCs"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("exit code %d, no %q in %s%s", r.code, part, r.stdout, r.stderr)
		}
	}
	if strings.Contains(r.stdout, "the disk of stateless-") {
		t.Errorf("a stateless process needs no space: %s", r.stdout)
	}
	if r := fdb(t, "why", "c", "-n", ns, "--performance"); !strings.Contains(r.stdout, "disk-space") || !strings.Contains(r.stdout, "storage_server_min_free_space_ratio") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	if r := fdb(t, "check", "c", "-n", ns, "--rules", "VOL"); !strings.Contains(r.stdout, "VOL-003") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	sandbox("fast", database)
	if r := fdb(t, "recover", "plan", "c", "-n", ns); strings.Contains(r.stdout, "5% required") {
		t.Errorf("the disks have space: %s%s", r.stdout, r.stderr)
	}
}
