package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cluster is a manifest of a small cluster; more is put below its spec.
func cluster(name, more string) string {
	return fmt.Sprintf(`apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata:
  name: %s
spec:
  version: 7.3.79
  processes:
    general:
      podTemplate:
        spec:
          containers:
          - name: foundationdb
            resources: {requests: {cpu: 10m, memory: 16Mi}}
          - name: foundationdb-kubernetes-sidecar
            resources: {requests: {cpu: 10m, memory: 16Mi}}
      volumeClaimTemplate:
        spec: {resources: {requests: {storage: 1Gi}}}
%s`, name, indented(more))
}

func indented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return strings.Join(lines, "\n") + "\n"
}

// counts are enough processes for a database, and few enough for a quick test.
const counts = `
processCounts: {storage: 3, log: 3, stateless: 3}
`

func TestANewClusterComesUp(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	manifest, err := os.ReadFile("../../manifests/examples/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apply(t, ns, string(manifest))

	want(t, fdb(t, "status", "sample-cluster", "-n", ns), 1)
	want(t, fdb(t, "plan", "sample-cluster", "-n", ns), 1)
	if got := kubectl(t, "get", "pods,configmaps,leases", "-n", ns, "-o", "name"); strings.Contains(got, "sample-cluster") {
		t.Errorf("a plan wrote: %s", got)
	}

	want(t, fdb(t, "reconcile", "sample-cluster", "-n", ns, "--wait", "--yes"), 0)
	status := object(t, ns, "fdb", "sample-cluster")["status"].(map[string]any)
	if status["configured"] != true {
		t.Errorf("configured: %v", status["configured"])
	}
	if got := status["health"].(map[string]any)["available"]; got != true {
		t.Errorf("available: %v", got)
	}
	if got := status["reconciledProcessGroups"]; got != 16.0 {
		t.Errorf("%v process groups reconciled, want 16", got)
	}
	want(t, fdb(t, "status", "sample-cluster", "-n", ns), 0)

	writesNothing(t, ns, "sample-cluster")
	want(t, fdb(t, "plan", "sample-cluster", "-n", ns), 0)
}

func TestClustersOfEverySpecVariantAreReconciled(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"split-image":    counts + "imageType: split\n",
		"ip-addresses":   counts + "routing: {useDNSInClusterFile: false}\n",
		"single":         counts + "databaseConfiguration: {redundancy_mode: single}\n",
		"triple":         "processCounts: {storage: 5, log: 5, stateless: 3}\ndatabaseConfiguration: {redundancy_mode: triple}\n",
		"zone-per-pod":   counts + "faultDomain: {key: foundationdb.org/none}\n",
		"two-per-pod":    counts + "storageServersPerPod: 2\n",
		"prefixed":       counts + "processGroupIDPrefix: dc1\n",
		"several-images": counts + "mainContainer: {imageConfigs: [{baseImage: registry.example.com/mirror/fdb-kubernetes-monitor}]}\n",
	}
	for name, more := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			apply(t, ns, cluster("c", more))
			want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
			want(t, fdb(t, "status", "c", "-n", ns), 0)
			writesNothing(t, ns, "c")
		})
	}
}

// The plugin is killed right after its first action, repeatedly, until nothing is left
// to do: so it is killed at every point of a reconcile, and the same command always
// goes on.
func TestReconcileFinishesIfKilledAfterEachAction(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	kills := 0
	ctx, limit := progressing(t.Context())
	defer limit.end()
	for {
		killed, code := killedAfterFirstAction(ctx, t, ns)
		if ctx.Err() != nil {
			t.Fatalf("not done after %d kills: %v", kills, context.Cause(ctx))
		}
		if killed {
			kills++
			limit.extend()
			continue
		}
		if code == 0 {
			break
		}
		if code != 3 {
			t.Fatalf("exit code %d after %d kills, want 3 while there is something to wait for", code, kills)
		}
		time.Sleep(time.Second)
	}
	// Creations run several at a time, and a dying run may get one more action done, so
	// the number varies; the simulation kills before every single action.
	const fewest = 8
	if kills < fewest {
		t.Errorf("killed %d times, want %d at least", kills, fewest)
	}
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	want(t, fdb(t, "status", "c", "-n", ns), 0)
	if pods := strings.Count(kubectl(t, "get", "pods", "-n", ns, "-o", "name"), "pod/"); pods != 9 {
		t.Errorf("%d pods, want 9", pods)
	}
}

// killedAfterFirstAction runs one pass and kills it as soon as it has done something.
// A pass that does nothing ends by itself, with its exit code.
func killedAfterFirstAction(ctx context.Context, t *testing.T, ns string) (killed bool, code int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl-fdb"), "reconcile", "c", "-n", ns, "--yes", "-o", "json")
	cmd.Env = environment(t)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Event string `json:"event"`
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "acted" {
			killed = true
			_ = cmd.Process.Kill()
			break
		}
	}
	_ = cmd.Wait() // killed, or whatever the pass ended with
	return killed, cmd.ProcessState.ExitCode()
}
