package realdb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// test is the test of a journey, with the sandbox in which it runs.
type test struct {
	*testing.T

	sandbox *sandbox
}

// sandbox is a running sandbox. One journey at a time uses it.
type sandbox struct {
	dir string
	// shared is the cluster that journeys share, nil if there is none that can be used.
	shared *cluster
	// clusters is how many clusters to share there have been.
	clusters int
	// failed is whether a journey failed in it.
	failed bool
}

// startSandbox starts a sandbox with the given programs, and installs the custom resources.
// It is to be stopped also after an error.
func startSandbox() (*sandbox, error) {
	// A short path: the sandbox's sockets live below it.
	dir, err := os.MkdirTemp("", "real")
	if err != nil {
		return nil, err
	}
	s := &sandbox{dir: dir}
	args := []string{"up", "--dir", s.dir, "--nodes", "7", "--zones", "7", "--node-pods", "250", "--detach"}
	for _, g := range given {
		if g.Dir == "" {
			continue
		}
		args = append(args, "--fdb-bin-dir", g.Version+"="+g.Dir)
	}
	for _, command := range [][]string{
		append([]string{"fdb-sandbox"}, args...),
		{"kubectl", "apply", "--server-side", "-f", "../../manifests/crd"},
		// On a definition that has no conditions at all yet, waiting for one of them fails at once.
		{"kubectl", "wait", "--for=jsonpath={.status.conditions}", "--timeout=5m", "crd", "--all"},
		{"kubectl", "wait", "--for=condition=Established", "--timeout=5m", "crd", "--all"},
	} {
		cmd := exec.Command(filepath.Join(binDir, command[0]), command[1:]...)
		cmd.Env = s.environment()
		if out, err := cmd.CombinedOutput(); err != nil {
			return s, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	return s, nil
}

// stop ends the sandbox. Its directory is kept after a failed journey if KEEP is set: it has
// the trace logs of all processes.
func (s *sandbox) stop(t *testing.T) {
	t.Helper()
	down := exec.Command(filepath.Join(binDir, "fdb-sandbox"), "down", "--dir", s.dir)
	if out, err := down.CombinedOutput(); err != nil {
		t.Errorf("stop the sandbox of %s: %v\n%s", s.dir, err, out)
		return
	}
	if s.failed && os.Getenv("KEEP") != "" {
		t.Log("kept:", s.dir)
		return
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Error(err)
	}
}

func (s *sandbox) environment() []string {
	return append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(s.dir, "state"), "KUBECONFIG="+filepath.Join(s.dir, "kubeconfig"),
		"PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "FDB_SANDBOX_DIR="+s.dir)
}
