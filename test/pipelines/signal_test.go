package pipelines

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A job that is canceled lets the command finish its action, and has its exit code.
func TestACanceledJobWaitsForTheCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := "#!/bin/sh\ntrap 'echo finished the action; exit 143' TERM\necho started\ntouch started\nwhile true; do sleep 0.05; done\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl-fdb"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	path, err := filepath.Abs(manifests + "pipeline.sh")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.CommandContext(t.Context(), "sh", path)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "MODE=check", "CLUSTER=sample"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 || log.String() != "started\nfinished the action\n" {
		t.Errorf("exit code %d: %s", code, &log)
	}
}
