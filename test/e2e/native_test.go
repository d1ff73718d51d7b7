package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nativePlugin is the plugin with the native transport. It links a client library that reaches
// the databases of the sandbox; the real one needs FoundationDB's client package.
var nativePlugin = filepath.Join("libfdb_c", "kubectl-fdb")

// forClients is the environment of programs that reach the sandbox's databases without pods.
func forClients() []string {
	return []string{
		"FDBSIM_SOCKET=" + filepath.Join(filepath.Dir(kubeconfig), "clients.sock"),
		"PATH=" + filepath.Join(binDir, filepath.Dir(nativePlugin)) + string(os.PathListSeparator) + binDir + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
}

// native runs `kubectl fdb` of a build with the native transport.
func native(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, func(c *exec.Cmd) { c.Env = append(c.Env, forClients()...) }, "kubectl", append([]string{"fdb"}, args...)...)
}

// refuseCommands lets every pod of a namespace refuse to run commands.
func refuseCommands(t *testing.T, ns string) {
	t.Helper()
	kubectl(t, "annotate", "-n", ns, "--overwrite", "pods", "--all", "sandbox.kubectl-fdb/fault=ExecRefused")
}

// acceptCommands ends that.
func acceptCommands(t *testing.T, ns string) {
	t.Helper()
	kubectl(t, "annotate", "-n", ns, "pods", "--all", "sandbox.kubectl-fdb/fault-")
}

// shows fails the test unless the words are in the result.
func shows(t *testing.T, r result, words string) {
	t.Helper()
	if !strings.Contains(r.stdout, words) {
		t.Errorf("stdout does not have %q:\n%s", words, r.stdout)
	}
}

// A database whose pods run no commands is read and changed through the client library.
func TestTheNativeTransportWorksWithoutPodExec(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", "processCounts: {storage: 4, log: 4, stateless: 3}\n"))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	refuseCommands(t, ns)
	want(t, native(t, "status", "c", "-n", ns, "--transport", "exec"), 8)

	r := native(t, "status", "c", "-n", ns, "--transport", "native")
	want(t, r, 0)
	shows(t, r, "Available       yes")

	group := storageGroups(t, ns)[0]
	want(t, native(t, "exclude", "c", group, "-n", ns, "--transport", "native", "--wait", "--yes"), 0)
	excluded := native(t, "get", "exclusions", "c", "-n", ns, "--transport", "native")
	want(t, excluded, 0)
	shows(t, excluded, group)
	want(t, native(t, "include", "c", group, "-n", ns, "--transport", "native", "--wait", "--yes"), 0)

	// The library rewrites the cluster file that it was given.
	clusterFile := file(t, "fdb.cluster", connectionString(t, ns)+"\n")
	coordinator := strings.TrimSpace(native(t, "get", "coordinators", "c", "-n", ns, "--cluster-file", clusterFile, "-o", "jsonpath={.items[0].processGroup}").stdout)
	want(t, native(t, "coordinators", "change", "c", "-n", ns, "--away-from", coordinator, "--cluster-file", clusterFile, "--transport", "native", "--wait", "--yes"), 0)
	content, err := os.ReadFile(clusterFile)
	if err != nil {
		t.Fatal(err)
	}
	if after := connectionString(t, ns); !strings.Contains(string(content), after) || strings.Contains(after, coordinator+".") {
		t.Errorf("the cluster file has %s, the status %s; the coordinator %s was replaced", content, after, coordinator)
	}

	// fdbcli in the pods reads what the library wrote.
	acceptCommands(t, ns)
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	want(t, fdb(t, "status", "c", "-n", ns), 0)
}

// A cluster file can be of any database, and the one that it leads to is never taken for the
// cluster's.
func TestAClusterFileOfAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for _, name := range []string{"c", "d"} {
		apply(t, ns, cluster(name, counts))
		want(t, fdb(t, "reconcile", name, "-n", ns, "--wait", "--yes"), 0)
	}
	other := file(t, "fdb.cluster", kubectl(t, "get", "fdb", "d", "-n", ns, "-o", "jsonpath={.status.connectionString}")+"\n")
	before := versions(t, ns)
	args := []string{"exclude", "c", storageGroups(t, ns)[0], "-n", ns, "--cluster-file", other, "--yes"}

	r := native(t, append(args, "--transport", "native")...)
	want(t, r, 4)
	prints(t, r, "the cluster file is of d:", "the FoundationDBCluster of c:", "omit --cluster-file")
	if versions(t, ns) != before {
		t.Errorf("something was written:\n%s", r.stdout)
	}
	r = native(t, "status", "c", "-n", ns, "--cluster-file", other, "--transport", "native")
	want(t, r, 8)
	shows(t, r, "the cluster file is of d:")
	r = native(t, "status", "c", "-n", ns, "--cluster-file", other)
	want(t, r, 0)
	if !strings.Contains(r.stderr, "warning: the native transport cannot be used: ") {
		t.Errorf("does not warn that fdbcli is used instead:\n%s", r.stderr)
	}
}

// A static build refuses what it does not have.
func TestAStaticBuildRefusesTheNativeTransport(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--transport", "native"}, {"--cluster-file", "fdb.cluster"}} {
		r := fdb(t, append([]string{"status", "c"}, args...)...)
		want(t, r, 2)
		if !strings.Contains(r.stderr, "this build has no native transport") {
			t.Errorf("%v: %s", args, r.stderr)
		}
	}
}

func connectionString(t *testing.T, ns string) string {
	t.Helper()
	return strings.TrimSpace(kubectl(t, "get", "fdb", "c", "-n", ns, "-o", "jsonpath={.status.connectionString}"))
}
