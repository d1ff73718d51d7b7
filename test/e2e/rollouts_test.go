package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// patch changes the spec of the cluster "c" as kubectl patch does.
func patch(t *testing.T, ns, spec string) {
	t.Helper()
	kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"spec":`+spec+`}`)
}

// reconciled runs passes until the cluster is reconciled, and returns the actions.
func reconciled(t *testing.T, ns string) result {
	t.Helper()
	r := fdb(t, "reconcile", "c", "-n", ns, "--wait=all", "--yes", "--interval", "2s")
	want(t, r, 0)
	return r
}

// reported is one process as the database itself shows it.
type reported struct {
	Version     string            `json:"version"`
	CommandLine string            `json:"command_line"`
	Locality    map[string]string `json:"locality"`
	Address     string            `json:"address"`
}

// processes asks the database, through an fdbcli of a version or the pod's own.
func processes(t *testing.T, ns, fdbcli string) map[string]reported {
	t.Helper()
	pod := "c-" + storageGroups(t, ns)[0]
	text := kubectl(t, "exec", "-n", ns, pod, "-c", "foundationdb", "--", fdbcli, "-C", "/var/fdb/data/fdb.cluster", "--exec", "status json")
	var document struct {
		Cluster struct {
			Processes map[string]reported `json:"processes"`
		} `json:"cluster"`
	}
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &document); err != nil {
		t.Fatal(err)
	}
	return document.Cluster.Processes
}

// quick shortens the wait before restarts, which is ten minutes by default.
const quick = "minimumUptimeSecondsForBounce: 20\n"

func TestAKnobChangeRestartsTheProcesses(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"unified", "split"} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			apply(t, ns, cluster("c", counts+quick+"imageType: "+image+"\n"))
			reconciled(t, ns)
			patch(t, ns, `{"processes":{"general":{"customParameters":["knob_min_available_space_ratio=0.01"]}}}`)
			r := reconciled(t, ns)
			if n := strings.Count(r.stdout, "did      restart 9 processes of "); n != 1 {
				t.Errorf("restarted %d times, want once:\n%s", n, r.stdout)
			}
			found := processes(t, ns, "fdbcli")
			for _, p := range found {
				if !strings.Contains(p.CommandLine, "--knob_min_available_space_ratio=0.01") {
					t.Errorf("%s runs with %s", p.Locality["instance_id"], p.CommandLine)
				}
			}
			if len(found) != 9 {
				t.Errorf("%d processes, want 9", len(found))
			}
			writesNothing(t, ns, "c")
		})
	}
}

// Maintenance is left out: notes of it are in this machine's time, and the databases' time
// runs faster here.
func TestStoragePodsAreRecreatedZoneByZone(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	reconciled(t, ns)
	before := volumes(t, ns)
	patch(t, ns, `{"processes":{"storage":{"podTemplate":{"spec":{"containers":[{"name":"foundationdb","env":[{"name":"TZ","value":"UTC"}]}]}}}}}`)
	r := reconciled(t, ns)
	for _, group := range storageGroups(t, ns) {
		if !strings.Contains(r.stdout, fmt.Sprintf("did      recreate pods: c-%s\n", group)) {
			t.Errorf("%s was not recreated alone:\n%s", group, r.stdout)
		}
	}
	if got := kubectl(t, "get", "pods", "-n", ns, "-l", "foundationdb.org/fdb-process-class=storage",
		"-o", `jsonpath={range .items[*]}{.spec.containers[?(@.name=="foundationdb")].env[?(@.name=="TZ")].value}{" "}{end}`); got != strings.Repeat("UTC ", 3) {
		t.Errorf("the pods' variables are %q", got)
	}
	if diff := cmp.Diff(before, volumes(t, ns)); diff != "" {
		t.Errorf("PVCs changed (-before +after):\n%s", diff)
	}
	writesNothing(t, ns, "c")
}

func volumes(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "get", "pvc", "-n", ns, "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}`)
}

// Whoever made a cluster with other hashes, it is adopted without recreating a pod.
func TestAClusterIsAdoptedWithoutRecreatingPods(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	reconciled(t, ns)
	kubectl(t, "annotate", "-n", ns, "pods,pvc", "--all", "--overwrite", "foundationdb.org/last-applied-spec=theirs")
	kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"spec":{"skip":true}}`)
	want(t, fdb(t, "plan", "c", "-n", ns), 1)
	before := uids(t, ns)
	r := fdb(t, "plan", "c", "-n", ns, "--adopt")
	want(t, r, 1)
	if !strings.Contains(r.stdout, "~ adopted objects   15: ") || strings.Contains(r.stdout, "although it differs") ||
		slices.Contains(plannedKinds(t, "plan", "c", "-n", ns, "--adopt"), "MarkForRemoval") {
		t.Errorf("does not adopt 9 pods and 6 claims, all of them matching the spec, and nothing else:\n%s", r.stdout)
	}
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--adopt", "--wait", "--yes"), 0)
	kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"spec":{"skip":false}}`)
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes"), 0) // notes the new generation
	want(t, fdb(t, "plan", "c", "-n", ns), 0)
	if diff := cmp.Diff(before, uids(t, ns)); diff != "" {
		t.Errorf("pods or claims were recreated (-before +after):\n%s", diff)
	}
}

func uids(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "get", "pods,pvc", "-n", ns, "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}`)
}

// A patch upgrade mixes versions for a while: storage pods are recreated with their
// volumes, the others are replaced. All go at once here: one fault domain at a time takes
// minutes.
func TestAPatchUpgradeReachesEveryProcess(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts+"automationOptions: {deletionMode: All, removalMode: All}\n"))
	reconciled(t, ns)
	before := storageGroups(t, ns)
	patch(t, ns, `{"version":"7.3.80"}`)
	reconciled(t, ns)
	found := processes(t, ns, "fdbcli")
	for _, p := range found {
		if p.Version != "7.3.80" {
			t.Errorf("%s runs %s", p.Locality["instance_id"], p.Version)
		}
	}
	if len(found) != 9 {
		t.Errorf("%d processes, want 9", len(found))
	}
	if diff := cmp.Diff(before, storageGroups(t, ns)); diff != "" {
		t.Errorf("storage groups were replaced (-before +after):\n%s", diff)
	}
	writesNothing(t, ns, "c")
}

// To a version of another protocol every pod gets the new binary beside the old one, and
// then all processes restart at once.
func TestAMajorUpgradeReachesEveryProcess(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"unified", "split"} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			apply(t, ns, cluster("c", counts+quick+"automationOptions: {deletionMode: All, removalMode: All}\nimageType: "+image+"\n"))
			reconciled(t, ns)
			patch(t, ns, `{"version":"7.4.6"}`)
			r := reconciled(t, ns)
			if n := strings.Count(r.stdout, "did      restart 9 processes at once in version 7.4.6"); n != 1 {
				t.Errorf("restarted %d times, want once:\n%s", n, r.stdout)
			}
			found := processes(t, ns, "fdbcli")
			for _, p := range found {
				if p.Version != "7.4.6" {
					t.Errorf("%s runs %s", p.Locality["instance_id"], p.Version)
				}
			}
			if len(found) != 9 {
				t.Errorf("%d processes, want 9", len(found))
			}
			writesNothing(t, ns, "c")
		})
	}
}
