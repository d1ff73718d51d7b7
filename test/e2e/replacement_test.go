package e2e

import (
	"strings"
	"testing"
)

// The spec removes a storage group: a new one starts, data moves, and the old one is
// removed with its volume, its exclusion and its entry in the status.
func TestAProcessGroupIsReplaced(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	before := storageGroups(t, ns)
	kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"spec":{"processGroupsToRemove":["`+before[0]+`"]}}`)

	r := fdb(t, "reconcile", "c", "-n", ns, "--wait=all", "--yes", "--interval", "5s")
	want(t, r, 0)
	for _, step := range []string{"add 1 process group", "exclude " + before[0], "mark as drained: " + before[0], "delete objects of " + before[0], "remove " + before[0] + " from the status"} {
		if !strings.Contains(r.stdout, step) {
			t.Errorf("did not %s:\n%s", step, r.stdout)
		}
	}
	after := storageGroups(t, ns)
	if len(after) != len(before) || strings.Contains(strings.Join(after, " "), before[0]) {
		t.Errorf("storage groups %v, before %v: want %s replaced", after, before, before[0])
	}
	if claims := kubectl(t, "get", "pvc", "-n", ns, "-o", "name"); strings.Contains(claims, "c-"+before[0]+"-data") {
		t.Errorf("the PVC of %s still exists:\n%s", before[0], claims)
	}
	if excluded := kubectl(t, "exec", "-n", ns, "c-"+after[0], "-c", "foundationdb", "--", "fdbcli", "--exec", "exclude"); !strings.Contains(excluded, "no servers or localities excluded") {
		t.Errorf("an exclusion is left:\n%s", excluded)
	}
	want(t, fdb(t, "status", "c", "-n", ns), 0)
	writesNothing(t, ns, "c")
}

func storageGroups(t *testing.T, ns string) []string {
	t.Helper()
	return strings.Fields(kubectl(t, "get", "fdb", "c", "-n", ns, "-o", `jsonpath={range .status.processGroups[?(@.processClass=="storage")]}{.processGroupID}{"\n"}{end}`))
}
