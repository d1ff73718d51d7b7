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

// canceled is a run of the script in a directory with a command that finishes its action when it gets a signal, and
// reports when it is started.
func canceled(t *testing.T, shell string, environment ...string) (cmd *exec.Cmd, log *strings.Builder, started string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\ntrap 'echo finished the action; exit 143' TERM\necho started\ntouch started\nfor i in $(seq 400); do sleep 0.05; done\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl-fdb"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	path, err := filepath.Abs(manifests + "pipeline.sh")
	if err != nil {
		t.Fatal(err)
	}
	log = &strings.Builder{}
	cmd = exec.CommandContext(t.Context(), shell, path)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.WaitDelay = time.Second // a command that outlives the script has its streams
	cmd.Env = append([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "MODE=check", "CLUSTER=sample"}, environment...)
	return cmd, log, filepath.Join(dir, "started")
}

// finished requires that the command finished its action, and that the script has its exit code.
func finished(t *testing.T, cmd *exec.Cmd, log *strings.Builder) {
	t.Helper()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 || log.String() != "started\nfinished the action\n" {
		t.Errorf("exit code %d: %s", code, log)
	}
}

// A job that is canceled lets the command finish its action, and has its exit code.
func TestACanceledJobWaitsForTheCommand(t *testing.T) {
	t.Parallel()
	cmd, log, started := canceled(t, "sh")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	finished(t, cmd, log)
}

// A signal may arrive when the command runs and the script has not stored its ID yet. Bash runs the hook before each
// command of the script.
func TestAJobThatIsCanceledAtOnceWaitsForTheCommand(t *testing.T) {
	t.Parallel()
	hook := filepath.Join(t.TempDir(), "hook")
	content := `set -T
trap 'case $BASH_COMMAND in "command=\$!") while [ ! -e started ]; do sleep 0.05; done; kill -TERM $$ ;; esac' DEBUG
`
	if err := os.WriteFile(hook, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, log, _ := canceled(t, "bash", "BASH_ENV="+hook)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	finished(t, cmd, log)
}
