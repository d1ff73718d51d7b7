package e2e

import (
	"strings"
	"testing"
	"time"
)

const logs = "foundationdb.org/fdb-process-class=log"

// A budget with a number of pods works without a scale: Kubernetes allows one eviction, and no second
// one until the first pod is back. Our own drain deletes pods by its own rules, and needs no budget.
func TestKubectlDrainObeysTheBudget(t *testing.T) {
	t.Parallel()
	alone(t)
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	kubectl(t, "annotate", "fdb", "c", "-n", ns, "kubectl-fdb/pod-disruption-budgets=true")
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	mayEvict := func(pods string) {
		t.Helper()
		kubectl(t, "wait", "-n", ns, "pdb/c-stateful", "--for=jsonpath={.status.disruptionsAllowed}="+pods, "--timeout="+patience)
	}
	mayEvict("1")
	nodes := strings.Fields(get(t, ns, "{.items[*].spec.nodeName}", "pods", "-l", logs))
	first, second := nodes[0], nodes[1]
	if first == second {
		t.Fatalf("two logs share node %s", first)
	}
	atTheEnd(t, "kubectl", "uncordon", first, second)

	want(t, drained(t, ns, first, "2m", "--pod-selector", logs), 0)
	mayEvict("0")
	if r := drained(t, ns, second, "10s", "--pod-selector", logs); r.code == 0 || !strings.Contains(r.stderr, "would violate the pod's disruption budget") {
		t.Fatalf("the second eviction: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	kubectl(t, "uncordon", first)
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	mayEvict("1")

	want(t, fdb(t, "drain", second, "-c", "c", "-n", ns, "--yes", "--timeout", "10m"), 0)
	kubectl(t, "annotate", "fdb", "c", "-n", ns, "kubectl-fdb/pod-disruption-budgets-")
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	if left := get(t, ns, "{.items[*].metadata.name}", "pdb"); left != "" {
		t.Errorf("the budget %s is still there", left)
	}
}

// With --respect-pdb a removal waits for the budget of another team, and names it; check finds that the
// budget never allows an eviction.
func TestARemovalWithRespectPDBWaitsForAnotherTeamsBudget(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	apply(t, ns, `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: theirs}, spec: {minAvailable: 99, selector: {matchLabels: {foundationdb.org/fdb-cluster-name: c}}}}`)
	group := strings.Fields(get(t, ns, `{.items[*].metadata.labels.foundationdb\.org/fdb-process-group-id}`, "pods", "-l", "foundationdb.org/fdb-process-class=stateless"))[0]

	var r result
	named := func() bool {
		return strings.Contains(r.stdout+r.stderr, "pod c-"+group+" may not be evicted: The disruption budget theirs needs 99 healthy pods")
	}
	for end := time.Now().Add(2 * stall); !named() && time.Now().Before(end); {
		r = fdb(t, "replace", "c", group, "-n", ns, "--wait", "--yes", "--respect-pdb", "--timeout", "1m")
		want(t, r, 3)
	}
	if !named() {
		t.Errorf("the budget is not named:\n%s%s", r.stdout, r.stderr)
	}
	if pod := get(t, ns, "{.metadata.deletionTimestamp}", "pod", "c-"+group); pod != "" {
		t.Errorf("the pod was deleted at %s", pod)
	}
	kubectl(t, "patch", "pdb", "theirs", "-n", ns, "--type=merge", "-p", `{"spec":{"minAvailable":"80%"}}`)
	if r := fdb(t, "check", "c", "-n", ns, "--rules", "PDB-001", "--fail-on", "warning"); r.code != 1 || !strings.Contains(r.stdout, "use an integer minAvailable") {
		t.Errorf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	fix := fdb(t, "check", "c", "-n", ns, "--rules", "PDB-001", "-o", "jsonpath={.items[0].findings[0].fix}").stdout
	want(t, run(t, "/bin/sh", "-c", fix), 0)
	kubectl(t, "wait", "-n", ns, "pdb/theirs", "--for=jsonpath={.status.disruptionsAllowed}=1", "--timeout="+patience)
	kubectl(t, "delete", "pdb", "theirs", "-n", ns)
	want(t, fdb(t, "replace", "c", group, "-n", ns, "--wait", "--yes", "--respect-pdb", "--timeout", "10m"), 0)
}

// The API server accepts other times in the tolerations of a running pod, back and forth.
func TestTolerationsOfRunningPodsAreSetAndRestored(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	waits := func(class string) string {
		t.Helper()
		return get(t, ns, `{.items[0].metadata.uid} {range .items[*]}{.spec.tolerations[?(@.key=="node.kubernetes.io/unreachable")].tolerationSeconds} {end}`, "pods", "-l", "foundationdb.org/fdb-process-class="+class)
	}
	before, stored := waits("stateless"), waits("storage")
	if !strings.HasSuffix(before, " 300 300 300 ") {
		t.Fatalf("stateless pods wait for %q", before)
	}
	kubectl(t, "annotate", "fdb", "c", "-n", ns, "kubectl-fdb/tolerations=true")
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	if got, desired := waits("stateless"), strings.ReplaceAll(before, " 300", " 15"); got != desired {
		t.Errorf("stateless pods wait for %q, want %q", got, desired)
	}
	if got := waits("storage"); got != stored {
		t.Errorf("storage pods wait for %q, want %q", got, stored)
	}
	want(t, fdb(t, "check", "c", "-n", ns, "--rules", "POD", "--fail-on", "info"), 0)
	kubectl(t, "annotate", "fdb", "c", "-n", ns, "kubectl-fdb/tolerations-")
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	if got := waits("stateless"); got != before {
		t.Errorf("stateless pods wait for %q again, want %q", got, before)
	}
}
