package e2e

import (
	"strings"
	"testing"
)

// A user deletes the PVC of a storage pod, and changes the spec of storage pods. The pod with this volume stays; the commands
// that `why` prints keep the volume and move the data while the pod runs, also where it has the only copy.
func TestDataOfADeletedPVCMovesBeforeItsPodEnds(t *testing.T) {
	t.Parallel()
	for _, redundancy := range []string{"single", "double"} {
		t.Run(redundancy, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			marked(t, ns, counts+"databaseConfiguration: {redundancy_mode: "+redundancy+"}\nautomationOptions: {deletionMode: All}\n")
			group := storageGroups(t, ns)[0]
			pod := "c-" + group
			volume := get(t, ns, "{.spec.volumeName}", "pvc", pod+"-data")
			kubectl(t, "delete", "pvc", pod+"-data", "-n", ns, "--wait=false")
			before := get(t, ns, "{.metadata.uid}", "pod", pod)

			why := fdb(t, "why", "c", "-n", ns)
			shows(t, why, "has PVC "+pod+"-data, which is being deleted")
			shows(t, fdb(t, "status", "c", "-n", ns), pod+"-data")
			want(t, fdb(t, "can", "delete", "c", group, "-n", ns), 1)

			patch(t, ns, `{"processes":{"storage":{"podTemplate":{"spec":{"containers":[{"name":"foundationdb","env":[{"name":"TZ","value":"UTC"}]}]}}}}}`)
			passesUntil(t, ns, func() bool { return recreated(t, ns) })
			if now := get(t, ns, "{.metadata.uid}", "pod", pod); now != before {
				t.Fatalf("pod %s was taken down: %s, %s before", pod, now, before)
			}
			for _, command := range rescueOf(why.stdout) {
				if strings.HasPrefix(command, "kubectl fdb replace ") {
					command += " --wait --yes --interval 2s"
				}
				want(t, run(t, "/bin/sh", "-c", command), 0)
			}
			if left := get(t, ns, "{.metadata.uid}", "pvc", pod+"-data"); left != "" {
				t.Errorf("PVC %s-data still exists", pod)
			}
			if phase := kubectl(t, "get", "pv", volume, "-o", "jsonpath={.status.phase}"); phase != "Released" {
				t.Errorf("volume %s is %s, want it retained", volume, phase)
			}
			atTheEnd(t, "kubectl", "delete", "pv", volume)
			if r := fdb(t, "cli", "c", "-n", ns, "--", "get marker"); r.code != 0 || !strings.Contains(r.stdout, "4711") {
				t.Errorf("the marker is lost: %s%s", r.stdout, r.stderr)
			}
		})
	}
}

// recreated reports whether a pod has the variable of the changed spec.
func recreated(t *testing.T, ns string) bool {
	t.Helper()
	return strings.Contains(get(t, ns, `{range .items[*]}{.spec.containers[?(@.name=="foundationdb")].env[?(@.name=="TZ")].value}{" "}{end}`, "pods"), "UTC")
}

// rescueOf returns the commands with which a page of `why` keeps a volume and moves its data.
func rescueOf(page string) (commands []string) {
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(strings.TrimPrefix(line, "next:"))
		if strings.HasPrefix(line, "kubectl fdb replace ") || strings.HasPrefix(line, "kubectl patch pv ") {
			commands = append(commands, line)
		}
	}
	return commands
}
