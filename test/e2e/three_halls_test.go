package e2e

import (
	"slices"
	"strings"
	"testing"
)

// Three data halls in one resource: the hall of a process is a label of its node. Three
// coordinators start the database and nine take over, under the database's own lock,
// which a resource without a prefix takes only with a reason. Without one of the halls, the database has the
// mode for two of them for a time, in which nothing is drained.
func TestThreeDataHallClusterStartsAndHandlesTheLossOfAHall(t *testing.T) {
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
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-a, zone-b, zone-c]}]
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
	losesHall(t, ns)
}

// losesHall loses the pods of a hall, changes to the mode for two halls, and back.
func losesHall(t *testing.T, ns string) {
	t.Helper()
	want(t, fdb(t, "cli", "halls", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)
	lost := strings.Fields(kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-cluster-name=halls,topology.kubernetes.io/zone=zone-c", "-o", "name"))
	if len(lost) == 0 {
		t.Fatal("no pods in zone-c")
	}
	kubectl(t, append([]string{"delete", "-n", ns, "--grace-period", "1"}, lost...)...)
	want(t, fdb(t, "pause", "halls", "-n", ns, "--reason", "a hall is lost"), 0)
	want(t, fdb(t, "cli", "halls", "-n", ns, "--yes", "--", "configure three_data_hall_fallback"), 0)
	want(t, fdb(t, "cli", "halls", "-n", ns, "--yes", "--", "writemode on; set during 4712"), 0)

	r := fdb(t, "plan", "halls", "-n", ns)
	for _, part := range []string{"three_data_hall_fallback", "storage processes in 2 data halls, 3 required"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("no %q in %s%s", part, r.stdout, r.stderr)
		}
	}
	if kinds := plannedKinds(t, "plan", "halls", "-n", ns); slices.Contains(kinds, "MarkForRemoval") || slices.Contains(kinds, "Exclude") {
		t.Errorf("drains process groups in the mode for two halls: %s", r.stdout)
	}
	want(t, fdb(t, "reconcile", "halls", "-n", ns, "--wait", "--yes", "--override", "G-LOCK-OWNER=the only control plane", "--timeout", patience), 0)
	want(t, fdb(t, "resume", "halls", "-n", ns), 0)
	want(t, fdb(t, "recover", "verify", "halls", "-n", ns, "--wait", "--timeout", patience), 0)
	r = fdb(t, "cli", "halls", "-n", ns, "--", "get marker; get during; status json")
	for _, part := range []string{"4711", "4712", `"redundancy_mode":"three_data_hall"`} {
		if !strings.Contains(strings.ReplaceAll(r.stdout, " ", ""), part) {
			t.Errorf("no %q in %.300s%s", part, r.stdout, r.stderr)
		}
	}
}
