package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// marked creates a cluster with a marker key.
func marked(t *testing.T, ns, more string) {
	t.Helper()
	apply(t, ns, cluster("c", more))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "cli", "c", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)
}

// recovered applies a plan, verifies the cluster, its marker key and its name, and applies the plan again.
func recovered(t *testing.T, ns, plan, former string) {
	t.Helper()
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan), 7) // without approval
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--timeout", patience), 0)
	want(t, fdb(t, "recover", "verify", "c", "-n", ns, "--wait", "--timeout", patience), 0)
	if name, _, _ := strings.Cut(former, "@"); !strings.HasPrefix(connectionString(t, ns), name+"@") {
		t.Errorf("the connection string is %s, and was %s", connectionString(t, ns), former)
	}
	if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--timeout", patience), 0)
	want(t, fdb(t, "connection-string", "drift", "c", "-n", ns), 0)
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
}

// plannedKind writes the plan to a file, once it is of a kind and has steps.
func plannedKind(t *testing.T, ns, kind string) string {
	t.Helper()
	for end := time.Now().Add(stall); time.Now().Before(end); {
		r := fdb(t, "recover", "plan", "c", "-n", ns, "-o", "json")
		if r.code == 0 && strings.Contains(r.stdout, `"kind": "`+kind+`"`) {
			return file(t, "recovery.json", r.stdout)
		}
		time.Sleep(2 * time.Second)
	}
	t.Fatal(fdb(t, "recover", "plan", "c", "-n", ns).stdout)
	return ""
}

// All pods are lost and get other addresses: one plan creates them and follows their addresses. It has
// a sandbox of its own, as does every test in which former addresses of coordinators become those of others.
func TestLostPodsAreRecoveredAtNewAddresses(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	marked(t, ns, byIPAddress)
	former := connectionString(t, ns)
	kubectl(t, "delete", "pods", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=c", "--grace-period", "1")
	apply(t, ns, others)
	kubectl(t, "wait", "-n", ns, "--for=condition=Available", "--timeout", patience, "deployment/others")
	plan := plannedKind(t, ns, "pods-lost")
	refusesEditedPlans(t, ns, plan)
	recovered(t, ns, plan, former)
	if connectionString(t, ns) == former {
		t.Errorf("the addresses did not move: %s", former)
	}
}

// Pods and PVCs are deleted, and the volumes are released: each gets the PVC that it had. A run that is
// interrupted meanwhile goes on.
func TestReleasedVolumesAreRecovered(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	marked(t, ns, "processCounts: {storage: 3, log: 4, stateless: 2}\n")
	former := connectionString(t, ns)
	volumes := strings.Fields(kubectl(t, "get", "pvc", "-n", ns, "-o", "jsonpath={.items[*].spec.volumeName}"))
	for _, v := range volumes {
		kubectl(t, "patch", "pv", v, "-p", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	}
	kubectl(t, "delete", "pods,pvc", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=c", "--grace-period", "1")
	plan := plannedKind(t, ns, "volumes-released")
	if r := fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--timeout", "2s"); r.code != 3 {
		t.Errorf("exit code %d of an interrupted run: %s%s", r.code, r.stdout, r.stderr)
	}
	recovered(t, ns, plan, former)
	now := strings.Fields(kubectl(t, "get", "pvc", "-n", ns, "-o", "jsonpath={.items[*].spec.volumeName}"))
	if strings.Join(now, " ") != strings.Join(volumes, " ") {
		t.Errorf("volumes %v, and were %v", now, volumes)
	}
}

// The resource is deleted, and with it pods, PVCs and the ConfigMap. The manifest is applied again with
// the connection string of a client: process groups are known by their volumes alone.
func TestADeletedResourceIsRecoveredFromItsVolumes(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	counts := "processCounts: {storage: 3, log: 4, stateless: 2}\n"
	marked(t, ns, counts)
	former := connectionString(t, ns)
	volumes := strings.Fields(kubectl(t, "get", "pvc", "-n", ns, "-o", "jsonpath={.items[*].spec.volumeName}"))
	for _, v := range volumes {
		kubectl(t, "patch", "pv", v, "-p", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	}
	kubectl(t, "delete", "foundationdbcluster", "c", "-n", ns)
	for end := time.Now().Add(stall); time.Now().Before(end); {
		if kubectl(t, "get", "pods,pvc", "-n", ns, "-o", "name") == "" {
			break
		}
		time.Sleep(time.Second)
	}
	apply(t, ns, cluster("c", counts+"skip: true\n"))
	if r := fdb(t, "recover", "plan", "c", "-n", ns); r.code != 4 || !strings.Contains(r.stdout, "seedConnectionString") {
		t.Errorf("exit code %d without a connection string: %s%s", r.code, r.stdout, r.stderr)
	}
	apply(t, ns, cluster("c", counts+"skip: true\nseedConnectionString: "+former+"\n"))
	plan := plannedKind(t, ns, "volumes-released")
	want(t, fdb(t, "recover", "apply", "c", "-n", ns, "--plan", plan, "--yes", "--timeout", patience), 0)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "recover", "verify", "c", "-n", ns, "--wait", "--timeout", patience), 0)
	if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
	now := strings.Fields(kubectl(t, "get", "pvc", "-n", ns, "-o", "jsonpath={.items[*].spec.volumeName}"))
	if strings.Join(now, " ") != strings.Join(volumes, " ") {
		t.Errorf("volumes %v, and were %v", now, volumes)
	}
}

// The resource is deleted and its objects stay. The manifest that is inferred from them is applied: no
// pod is replaced, nothing is configured, and the data is there.
func TestADeletedResourceIsRebuiltFromItsPods(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	marked(t, ns, "processCounts: {storage: 3, log: 4, stateless: 2}\n")
	before := kubectl(t, "get", "pods", "-n", ns, "-o", "jsonpath={.items[*].metadata.uid}")
	kubectl(t, "delete", "foundationdbcluster", "c", "-n", ns, "--cascade=orphan")
	want(t, fdb(t, "recover", "manifest", "other", "-n", ns), 2) // nothing is left of it

	manifest := fdb(t, "recover", "manifest", "c", "-n", ns)
	want(t, manifest, 0)
	for _, part := range []string{"spec of 9 of 9 pods, of 7 of 7 PVCs", "configuration of the processes of 9 of 9 pods", "#   spec.automationOptions: leaves no trace", "skip: true"} {
		if !strings.Contains(strings.ReplaceAll(manifest.stdout, "\n#   the", " the"), part) {
			t.Errorf("no %q in %s", part, manifest.stdout)
		}
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(manifest.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	r := fdb(t, "plan", "-f", file, "-n", ns)
	t.Log(r.stdout, r.stderr)
	want(t, r, 1)
	want(t, fdb(t, "reconcile", "-f", file, "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	if after := kubectl(t, "get", "pods", "-n", ns, "-o", "jsonpath={.items[*].metadata.uid}"); after != before {
		t.Errorf("pods %s, and were %s", after, before)
	}
	want(t, fdb(t, "recover", "verify", "c", "-n", ns, "--wait", "--timeout", patience), 0)
	if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
	want(t, fdb(t, "recover", "manifest", "c", "-n", ns), 0) // with a warning that it exists
}
