package e2e

import (
	"strings"
	"testing"
)

const logs = "foundationdb.org/fdb-process-class=log"

// A budget with a number of pods works without a scale: Kubernetes allows one eviction, and no second
// one until the first pod is back. Our own drain deletes pods by its own rules, and needs no budget.
func TestKubectlDrainObeysTheBudget(t *testing.T) {
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	kubectl(t, "annotate", "fdb", "c", "-n", ns, "kubectl-fdb/pod-disruption-budgets=true")
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	mayEvict := func(pods string) {
		t.Helper()
		kubectl(t, "wait", "-n", ns, "pdb/c-stateful", "--for=jsonpath={.status.disruptionsAllowed}="+pods, "--timeout=2m")
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
