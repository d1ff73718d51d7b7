package e2e

import (
	"strings"
	"testing"
)

// Pods refuse commands, or their answers break off in the middle: nothing is known of
// the database then, and nothing that needs it is done. One pod that works is enough.
func TestAnUnreachableDatabaseIsReportedAndNotChanged(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	pods := strings.Fields(kubectl(t, "get", "pods", "-n", ns, "-o", "name"))

	kubectl(t, append(append([]string{"annotate", "-n", ns}, pods[1:]...), "sandbox.kubectl-fdb/fault=ExecRefused")...)
	want(t, fdb(t, "status", "c", "-n", ns), 0)

	for _, fault := range []string{"ExecRefused", "ExecCut=200"} {
		kubectl(t, "annotate", "-n", ns, "--overwrite", "pods", "--all", "sandbox.kubectl-fdb/fault="+fault)
		r := fdb(t, "status", "c", "-n", ns)
		want(t, r, 8)
		if strings.Contains(r.stdout, "Available       yes") {
			t.Errorf("%s: calls a database available that cannot be asked:\n%s", fault, r.stdout)
		}
		r = fdb(t, "reconcile", "c", "-n", ns, "--yes")
		want(t, r, 3)
		for _, act := range []string{"run configure", "change coordinators", "exclude", "delete"} {
			if strings.Contains(r.stdout, "did      "+act) {
				t.Errorf("%s: acts on a database that cannot be asked:\n%s", fault, r.stdout)
			}
		}
	}

	// A slow one is waited for with one line.
	kubectl(t, "annotate", "-n", ns, "--overwrite", "pods", "--all", "sandbox.kubectl-fdb/fault=ExecSlow=7s")
	r := fdb(t, "status", "c", "-n", ns)
	want(t, r, 0)
	prints(t, r, "waiting for database status (no answer for 5s; ", " ready)…")
	if strings.Contains(r.stderr, "Locks") || !strings.Contains(r.stdout, "Locks") {
		t.Errorf("want one screen, on stdout:\n%s%s", r.stdout, r.stderr)
	}

	kubectl(t, "annotate", "-n", ns, "pods", "--all", "sandbox.kubectl-fdb/fault-")
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait"), 0)
	want(t, fdb(t, "status", "c", "-n", ns), 0)
}

// A pod that never starts is waited for, by name, until the timeout.
func TestWaitReportsPodsThatNeverStart(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	manifest := strings.Replace(cluster("c", counts), "  processes:\n", `  processes:
    stateless:
      podTemplate:
        spec:
          nodeSelector: {no-node: has-this}
          containers: [{name: foundationdb}]
`, 1)
	apply(t, ns, manifest)
	for { // a busy machine needs more than one time-out until only the pods are left to wait for
		r := fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes", "--timeout", "90s")
		want(t, r, 3)
		told := r.stdout + r.stderr
		if strings.Contains(told, "stateless-") && strings.Contains(told, "does not run yet") {
			return
		}
		if !strings.Contains(r.stdout, "did ") {
			t.Fatalf("does not name what is pending:\n%s", told)
		}
	}
}
