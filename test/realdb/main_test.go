package realdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/test/realdb/programs"
)

var (
	binDir     = "../../bin"
	sandboxDir string
	kubeconfig string
	// given are the FoundationDB programs, oldest first as FDB_BIN lists them.
	given []programs.Given
	// chosen are the names of the journeys to run.
	chosen []string
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test-real:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	if given, err = programs.Parse(os.Getenv("FDB_BIN")); err != nil {
		return 1, err
	}
	if chosen, err = programs.Choose(os.Getenv("RUN"), names()); err != nil {
		return 1, err
	}
	if binDir, err = filepath.Abs(binDir); err != nil {
		return 1, err
	}
	for _, program := range []string{"kubectl-fdb", "fdb-sandbox", "fdb-sandbox-tool", "kubectl"} {
		if _, err := os.Stat(filepath.Join(binDir, program)); err != nil {
			return 1, fmt.Errorf("%w: build it first with `make build build-sandbox`", err)
		}
	}
	// A short path: the sandbox's sockets live below it.
	if sandboxDir, err = os.MkdirTemp("", "real"); err != nil {
		return 1, err
	}
	kubeconfig = filepath.Join(sandboxDir, "kubeconfig")
	defer func() { err = errors.Join(err, stop(code)) }()
	if err := start(); err != nil {
		return 1, err
	}
	code = m.Run()
	report()
	return code, nil
}

// start starts the sandbox with the given programs, and installs the custom resources.
func start() error {
	args := []string{"up", "--dir", sandboxDir, "--nodes", "7", "--zones", "7", "--detach"}
	for _, g := range given {
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
		cmd.Env = environment()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	return nil
}

// stop ends the sandbox. Its directory is kept after a failure if KEEP is set: it has the
// trace logs of all processes.
func stop(code int) error {
	down := exec.Command(filepath.Join(binDir, "fdb-sandbox"), "down", "--dir", sandboxDir)
	if out, err := down.CombinedOutput(); err != nil {
		return fmt.Errorf("stop the sandbox of %s: %w\n%s", sandboxDir, err, out)
	}
	if code != 0 && os.Getenv("KEEP") != "" {
		fmt.Println("kept:", sandboxDir)
		return nil
	}
	return os.RemoveAll(sandboxDir)
}

func environment() []string {
	return append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(sandboxDir, "state"), "KUBECONFIG="+kubeconfig,
		"PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "FDB_SANDBOX_DIR="+sandboxDir)
}
