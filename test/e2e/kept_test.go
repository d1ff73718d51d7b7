package e2e

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// attempts and pause bound how long a test repeats single passes. A database needs 2 min of its
// time after a recovery to allow an exclusion, and 10 min to allow an inclusion: a tenth of that
// here.
const (
	attempts = 60
	pause    = 3 * time.Second
)

// excludedGroups returns what the database excludes, by its own words.
func excludedGroups(t *testing.T, ns string) []string {
	t.Helper()
	r := fdb(t, "get", "exclusions", "c", "-n", ns, "-o", "name")
	want(t, r, 0)
	return strings.Fields(strings.ReplaceAll(r.stdout, "exclusion/locality_instance_id:", ""))
}

// passesUntil makes single passes, whatever their exit codes, until something is true.
func passesUntil(t *testing.T, ns string, done func() bool, flags ...string) {
	t.Helper()
	var last result
	for range attempts {
		if last = fdb(t, append([]string{"reconcile", "c", "-n", ns, "--yes"}, flags...)...); done() {
			return
		}
		time.Sleep(pause)
	}
	t.Fatalf("not after %d passes; the last, with exit code %d:\n%s%s", attempts, last.code, last.stdout, last.stderr)
}

// markedGroups returns the process groups that are marked for removal.
func markedGroups(t *testing.T, ns string) []string {
	t.Helper()
	return strings.Fields(get(t, ns, "{.status.processGroups[?(@.removalTimestamp)].processGroupID}", "fdb", "c"))
}

// missingFor makes the status say that the process groups without a pod, or whose processes do not report, have been
// so for some time, so that a test does not wait for it.
func missingFor(t *testing.T, ns string, some time.Duration) {
	t.Helper()
	stored := object(t, ns, "fdb", "c")
	for _, g := range stored["status"].(map[string]any)["processGroups"].([]any) {
		conditions, _ := g.(map[string]any)["processGroupConditions"].([]any) // none is none
		if !slices.ContainsFunc(conditions, isMissing) {
			continue
		}
		for _, c := range conditions {
			c := c.(map[string]any)
			c["timestamp"] = time.Now().Add(-some).Unix()
		}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	want(t, runWith(t, func(c *exec.Cmd) { c.Stdin = strings.NewReader(string(text)) }, "kubectl", "replace", "--subresource=status", "-n", ns, "-f", "-"), 0)
}

func isMissing(condition any) bool {
	kind := condition.(map[string]any)["type"]
	return kind == "MissingPod" || kind == "MissingProcesses"
}

// All volumes should be larger, all groups are replaced at once, and the quota has no room for
// their replacements: the database has excluded some of the old groups, and nothing goes on. The user
// reverts the change and keeps the old groups. They are included and unmarked, in this order, and the
// replacements leave, also the one that runs.
func TestReplacementsBlockedByAQuotaCanBeReverted(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	reconciled(t, ns)
	old, claims := storageGroups(t, ns), volumes(t, ns)
	kubectl(t, "create", "quota", "pods", "-n", ns, "--hard=pods=10")
	kubectl(t, "wait", "-n", ns, "quota/pods", "--for=jsonpath={.status.used.pods}=9", "--timeout="+patience)

	patch(t, ns, `{"processes":{"storage":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}}}}`)
	shows(t, fdb(t, "plan", "c", "-n", ns), "quota exceeded: ResourceQuota pods: pods 12 of 10 at the peak")
	r := fdb(t, "reconcile", "c", "-n", ns, "--yes")
	if r.code == 0 || !strings.Contains(r.stdout, "exceeded quota: pods") {
		t.Fatalf("exit code %d, and the quota stops nothing:\n%s", r.code, r.stdout)
	}
	missingFor(t, ns, 6*time.Minute)
	passesUntil(t, ns, func() bool { return len(excludedGroups(t, ns)) > 0 }, "--only", "UpdateStatus,ExcludeInstances")
	if marked := markedGroups(t, ns); !slices.Equal(marked, old) {
		t.Fatalf("marked: %v, want the old ones %v", marked, old)
	}

	patch(t, ns, `{"processes":{"storage":null},"cancelReplacementsForInstance":["`+strings.Join(old, `","`)+`"]}`)
	r = fdb(t, "reconcile", "c", "-n", ns, "--yes", "--only", "CancelReplacements")
	if r.code != 0 { // unless ten minutes of the database were over before
		want(t, r, waits)
		shows(t, r, "ago, 10m0s required")
	}
	passesUntil(t, ns, func() bool {
		excluded, marked := excludedGroups(t, ns), markedGroups(t, ns)
		for _, id := range old {
			if slices.Contains(excluded, id) && !slices.Contains(marked, id) {
				t.Fatalf("%s is excluded and not marked", id)
			}
		}
		missingFor(t, ns, 6*time.Minute)
		return len(excluded)+len(marked) == 0
	})

	reconciled(t, ns)
	if got := storageGroups(t, ns); !slices.Equal(got, old) || volumes(t, ns) != claims {
		t.Errorf("storage groups %v, want %v; PVCs:\n%s, before:\n%s", got, old, volumes(t, ns), claims)
	}
	kubectl(t, "wait", "-n", ns, "quota/pods", "--for=jsonpath={.status.used.pods}=9", "--timeout="+patience)
	status := fdb(t, "status", "c", "-n", ns)
	want(t, status, 0)
	shows(t, status, "3 process groups by spec.cancelReplacementsForInstance")
	writesNothing(t, ns, "c")
}

// A group that is excluded is kept manually: not without --include, and not before the database allows
// the inclusion; the command prints when.
func TestUndoingTheReplacementOfAnExcludedGroupRequiresInclude(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	reconciled(t, ns)
	before := storageGroups(t, ns)
	id := before[0]
	want(t, fdb(t, "replace", "c", id, "-n", ns, "--yes"), 0)
	passesUntil(t, ns, func() bool { return len(excludedGroups(t, ns)) > 0 }, "--skip", "RemovePods")

	keeps := func(flags ...string) result {
		return fdb(t, append([]string{"replace", "c", id, "-n", ns, "--undo", "--yes"}, flags...)...)
	}
	r := keeps()
	want(t, r, 4)
	prints(t, r, "--undo --include")
	if r = keeps("--include"); r.code != 0 { // unless ten minutes of the database were over before
		want(t, r, waits)
		shows(t, r, "inclusion of "+id+" waits: last recovery ")
		shows(t, r, "ago, 10m0s required")
		if excluded, marked := excludedGroups(t, ns), markedGroups(t, ns); !slices.Equal(excluded, []string{id}) || !slices.Equal(marked, []string{id}) {
			t.Errorf("excluded %v, marked %v, want both %s", excluded, marked, id)
		}
	}
	want(t, keeps("--include", "--wait"), 0)
	if excluded, marked := excludedGroups(t, ns), markedGroups(t, ns); len(excluded)+len(marked) > 0 {
		t.Errorf("excluded %v, marked %v, want none", excluded, marked)
	}
	if pod := get(t, ns, "{.metadata.deletionTimestamp}", "pod", "c-"+id); pod != "" {
		t.Errorf("the pod of %s is being deleted since %s", id, pod)
	}
	if after := storageGroups(t, ns); !slices.Contains(after, id) || len(after) != len(before)+1 {
		t.Errorf("storage groups %v, want %s and its replacement besides %v", after, id, before[1:])
	}
}
