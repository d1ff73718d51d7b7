package e2e

import (
	"strings"
	"testing"
)

// In versions that end no status document of a database that was never created, its files prove that there is none.
// Once there is one, it is never created again, whatever the status of the resource records.
func TestDatabasesOfOlderVersionsAreCreated(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata:
  name: older
spec:
  version: 7.3.63
  databaseConfiguration: {redundancy_mode: double, logs: 2, resolvers: 1}
  processCounts: {storage: 3, log: 3, stateless: 3}
`)
	r := fdb(t, "reconcile", "older", "-n", ns, "--wait", "--yes", "--timeout", patience)
	want(t, r, 0)
	if n := strings.Count(r.stdout, "run configure new "); n != 1 {
		t.Errorf("created %d times:\n%s", n, r.stdout)
	}
	want(t, fdb(t, "cli", "older", "-n", ns, "--yes", "--", "writemode on; set marker 4711"), 0)
	kubectl(t, "patch", "fdb", "older", "-n", ns, "--subresource", "status", "--type", "merge", "-p", `{"status":{"configured":null}}`)
	r = fdb(t, "reconcile", "older", "-n", ns, "--wait", "--yes", "--timeout", patience)
	want(t, r, 0)
	if strings.Contains(r.stdout, "configure new") {
		t.Errorf("created again:\n%s", r.stdout)
	}
	if r = fdb(t, "cli", "older", "-n", ns, "--", "get marker"); !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
}
