package e2e

import (
	"strings"
	"testing"
	"time"
)

// strays are objects with the labels of a cluster that belong to no process group.
const strays = `apiVersion: v1
kind: Pod
metadata: {name: stray, labels: {foundationdb.org/fdb-cluster-name: c}}
spec: {containers: [{name: pause, image: pause}], terminationGracePeriodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: stray, labels: {foundationdb.org/fdb-cluster-name: c}}
spec: {selector: {app: stray}, ports: [{port: 4501}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: stray-data, labels: {foundationdb.org/fdb-cluster-name: c}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// Objects and an exclusion without an owner are listed with proof and removed after approval, a PVC only
// if it is named. Of a deleted resource nothing is removed as long as its data could be needed.
func TestObjectsWithoutAnOwnerAreRemoved(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", byIPAddress))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	want(t, fdb(t, "gc", "c", "-n", ns, "--yes"), 0) // there is nothing
	want(t, fdb(t, "cli", "c", "-n", ns, "--yes", "--", "exclude no_wait 10.99.0.9"), 0)
	apply(t, ns, strays)

	listed := fdb(t, "gc", "c", "-n", ns, "--dry-run")
	want(t, listed, 1)
	for _, part := range []string{"10.99.0.9", "stray-data", "a PVC is removed only if --pvc names it", "4 items without an owner, 3 to remove, 1 kept"} {
		if !strings.Contains(listed.stdout, part) {
			t.Errorf("no %q in %s", part, listed.stdout)
		}
	}
	want(t, fdb(t, "gc", "c", "-n", ns), 7) // without approval
	kubectl(t, "get", "pod/stray", "service/stray", "pvc/stray-data", "-n", ns)
	// The exclusion waits for ten minutes since the last recovery, unless those were over before.
	if r := fdb(t, "gc", "c", "-n", ns, "--yes", "--pvc", "stray-data", "--reason", "test"); r.code != 0 {
		want(t, r, 3)
	}
	if left := kubectl(t, "get", "pods,services,pvc", "-n", ns, "-o", "name"); strings.Contains(left, "service/stray") || strings.Contains(left, "stray-data") {
		t.Errorf("left are %s", left)
	}
	want(t, fdb(t, "status", "c", "-n", ns), 0)

	kubectl(t, "delete", "foundationdbcluster", "c", "-n", ns, "--cascade=orphan")
	if r := fdb(t, "gc", "c", "-n", ns, "--yes"); r.code != 0 || !strings.Contains(r.stdout, "may have the last copy") || strings.Contains(r.stdout, "ConfigMap              c-config  removed") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	kubectl(t, "get", "configmap/c-config", "-n", ns)
	kubectl(t, "delete", "pods,pvc", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=c", "--grace-period", "1")
	for deadline := time.Now().Add(stall); ; time.Sleep(time.Second) {
		fdb(t, "gc", "c", "-n", ns, "--yes")
		left := kubectl(t, "get", "configmaps,services,leases", "-n", ns, "-o", "name")
		if !strings.Contains(left, "c-config") && !strings.Contains(left, "lease") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left are %s: %s", left, fdb(t, "gc", "c", "-n", ns, "--dry-run").stdout)
		}
	}
}
