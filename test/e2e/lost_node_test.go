package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The machine of a node is off for good: a replacement of its groups moves the data, and waits for the pods there
// until a user deletes the node.
func TestADeletedNodeEndsAReplacementThatWaits(t *testing.T) {
	t.Parallel()
	alone(t, "--nodes", "5", "--zones", "5")
	ns := namespace(t)
	marked(t, ns, counts+"automationOptions: {waitBetweenRemovalsSeconds: 1}\n")
	pod := "c-" + storageGroups(t, ns)[0]
	node := get(t, ns, "{.spec.nodeName}", "pod", pod)
	want(t, run(t, "fdb-sandbox", "node", "stop", node, "--dir", filepath.Dir(kubeconfigOf(t))), 0)
	kubectl(t, "wait", "node/"+node, "--for=condition=Ready=Unknown", "--timeout="+patience)
	passesUntil(t, ns, func() bool {
		return strings.Contains(get(t, ns, "{.status.processGroups[*].processGroupConditions[*].type}", "fdb", "c"), "MissingProcesses")
	})
	missingFor(t, ns, 6*time.Minute) // a group counts as lost five minutes after it stopped reporting
	replace := func(timeout string) result {
		return fdb(t, "replace", "c", "--node", node, "-n", ns, "--wait", "--yes", "--interval", "2s", "--timeout", timeout)
	}
	for range attempts {
		want(t, replace("15s"), 3)
		if get(t, ns, "{.metadata.deletionTimestamp}", "pod", pod) != "" {
			break
		}
	}
	why := fdb(t, "why", "c", "-n", ns)
	shows(t, why, "still terminating")
	// The grace period of its pod may be over by now.
	if !strings.Contains(why.stdout, " is terminating") && !strings.Contains(why.stdout, "does not terminate") {
		t.Errorf("why does not name the pod that keeps the objects:\n%s", why.stdout)
	}
	kubectl(t, "delete", "node", node)
	want(t, replace("5m"), 0)
	if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
		t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
	}
}
