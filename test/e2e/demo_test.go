package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script of `make demo` creates a cluster in a sandbox of its own. A second run continues with both, and
// `make demo-stop` leaves nothing behind. `make test-e2e` builds with the script that `make demo` builds with.
func TestTheDemoCreatesAClusterRunsAgainAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sandboxes.add(dir)
	own.Store(t.Name(), filepath.Join(dir, "kubeconfig"))
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	here := func(c *exec.Cmd) { c.Dir, c.Env = repository, append(c.Env, "DEMO_TIMEOUT="+patience) }
	makeProgram, err := exec.LookPath("make")
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			sandboxes.end(dir)
		}
	})

	script := filepath.Join(repository, "hack", "demo.sh")
	first := runWith(t, here, script, dir)
	want(t, first, 0)
	if !strings.Contains(first.stdout, "UpdateDatabaseConfiguration  did") || !strings.Contains(first.stdout, "make demo-stop ends it") {
		t.Errorf("the demo created no database, or printed no way on:\n%s", first.stdout)
	}
	again := runWith(t, here, script, dir)
	want(t, again, 0)
	if !strings.Contains(again.stdout, "it runs already") || !strings.Contains(again.stdout, "already reconciled") {
		t.Errorf("a second run of the demo did not go on with the first one's cluster:\n%s", again.stdout)
	}
	want(t, fdb(t, "wait", "sample-cluster", "--for=healthy,reconciled", "--timeout", patience), 0)
	want(t, runWith(t, here, makeProgram, "demo-stop", "SANDBOX="+dir), 0)
	stopped = true
	sandboxes.forget(dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("make demo-stop left %s: %v", dir, err)
	}
}
