package e2e

import (
	"context"
	"strings"
	"testing"
)

// A finalizer of another tool keeps a cluster that a user deletes, alone or with its namespace. All views lead with
// that, passes create nothing that would go with it, and the volumes can be kept until the finalizer is removed.
func TestAClusterThatIsBeingDeletedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind, rule string
		deletes    func(ns string) []string
	}{
		"alone":              {"FoundationDBCluster", "DEL-001", func(ns string) []string { return []string{"fdb", "c", "-n", ns} }},
		"with its namespace": {"Namespace", "DEL-002", func(ns string) []string { return []string{"namespace", ns} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := heldCluster(t)
			want(t, fdb(t, "status", "c", "-n", ns), 0)
			kubectl(t, append([]string{"delete", "--wait=false"}, tc.deletes(ns)...)...)

			deleted := tc.kind + " " + map[string]string{"FoundationDBCluster": "c", "Namespace": ns}[tc.kind] + " is being deleted"
			status, why := fdb(t, "status", "c", "-n", ns), fdb(t, "why", "c", "-n", ns)
			want(t, status, 1)
			shows(t, status, deleted)
			shows(t, why, "being deleted")
			check := fdb(t, "check", "c", "-n", ns)
			want(t, check, 1)
			shows(t, check, tc.rule)
			shows(t, fdb(t, "get", "clusters", "-n", ns), "(being-deleted)")

			if tc.kind == "FoundationDBCluster" { // Kubernetes deletes the PVCs of a namespace meanwhile
				keepVolumes(t, ns, why)
			}
			pod := "c-" + storageGroups(t, ns)[0]
			kubectl(t, "delete", "pod", pod, "-n", ns, "--ignore-not-found")
			pass := fdb(t, "reconcile", "c", "-n", ns, "--yes")
			want(t, pass, 4)
			shows(t, pass, "G-DELETION")
			if uid := get(t, ns, "{.metadata.uid}", "pod", pod); uid != "" {
				t.Errorf("pod %s was recreated", pod)
			}
		})
	}
}

// heldCluster creates a cluster with a finalizer of another tool. At the end, when its namespace is being deleted, the
// finalizer is removed.
func heldCluster(t *testing.T) (ns string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, limit := progressing(context.WithoutCancel(t.Context()))
		defer limit.end()
		want(t, runIn(ctx, t, limit, nil, "kubectl", "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"metadata":{"finalizers":null}}`), 0)
	})
	ns = namespace(t)
	apply(t, ns, cluster("c", counts))
	kubectl(t, "patch", "fdb", "c", "-n", ns, "--type", "merge", "-p", `{"metadata":{"finalizers":["doris.io/compute-storage-separation"]}}`)
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--yes", "--wait", "--timeout", patience), 0)
	return ns
}

// keepVolumes runs the command that `why` prints first, and verifies that all volumes of a namespace are kept.
func keepVolumes(t *testing.T, ns string, why result) {
	t.Helper()
	volumes := strings.Fields(get(t, ns, "{.items[*].spec.volumeName}", "pvc"))
	commands := rescueOf(why.stdout)
	if len(volumes) == 0 || len(commands) == 0 || !strings.HasPrefix(commands[0], "kubectl patch pv ") {
		t.Fatalf("%d volumes, and the commands %q", len(volumes), commands)
	}
	want(t, run(t, "/bin/sh", "-c", commands[0]), 0)
	atTheEnd(t, "kubectl", append([]string{"delete", "pv", "--wait=false"}, volumes...)...)
	for _, volume := range volumes {
		if policy := kubectl(t, "get", "pv", volume, "-o", "jsonpath={.spec.persistentVolumeReclaimPolicy}"); policy != "Retain" {
			t.Errorf("volume %s has the reclaim policy %s", volume, policy)
		}
	}
}
