package e2e

import (
	"strings"
	"testing"
)

// Three data halls in one resource: the hall of a process is a label of its node. Three
// coordinators start the database and nine take over, under the database's own lock,
// which a resource without a prefix takes only with a reason.
func TestThreeDataHallsComeUp(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata:
  name: halls
spec:
  version: 7.3.79
  faultDomain: {key: foundationdb.org/none}
  processCounts: {stateless: 2}
  databaseConfiguration: {redundancy_mode: three_data_hall, storage: 9, logs: 7}
  processes:
    general:
      customParameters: [locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE]
      podTemplate:
        spec:
          topologySpreadConstraints:
          - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {foundationdb.org/fdb-cluster-name: halls}}}
          containers:
          - name: foundationdb
            env: [{name: ENABLE_NODE_WATCH, value: "true"}]
            resources: {requests: {cpu: 10m, memory: 16Mi}}
`)
	r := fdb(t, "reconcile", "halls", "-n", ns, "--wait", "--yes")
	want(t, r, 4)
	if !strings.Contains(r.stdout+r.stderr, "G-LOCK-OWNER") {
		t.Errorf("does not name the gate:\n%s%s", r.stdout, r.stderr)
	}
	want(t, fdb(t, "reconcile", "halls", "-n", ns, "--wait", "--yes", "--override", "G-LOCK-OWNER=the only instance"), 0)
	connection := kubectl(t, "get", "fdb", "halls", "-n", ns, "-o", "jsonpath={.status.connectionString}")
	if got := strings.Count(connection, ":4501"); got != 9 {
		t.Errorf("%d coordinators, want 9: %s", got, connection)
	}
	want(t, fdb(t, "status", "halls", "-n", ns), 0)
}
