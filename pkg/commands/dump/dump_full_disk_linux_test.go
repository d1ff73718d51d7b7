package dump_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// fullDisk is set in the process in which a test writes to files that are limited.
const fullDisk = "FULL_DISK_IN"

// Files that may be no longer than a size end as a full disk does. The limit is one of the whole process, so
// the test runs in one of its own.
func TestADumpThatCannotBeWrittenIsOneErrorAndLeavesNoFile(t *testing.T) {
	folder := os.Getenv(fullDisk)
	if folder == "" {
		folder = t.TempDir()
		alone := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") // #nosec G204 -- this test again
		alone.Env = append(os.Environ(), fullDisk+"="+folder)
		if out, err := alone.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	g := commandstest.Dumpable(t)
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2048, Max: 2048}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "sample.tar.zst")
	code := g.Run("dump", "sample", "-f", path, "--duration", "0")
	_, last, _ := strings.Cut(g.Err.String(), "error: ")
	if want := "write " + path + ": " + syscall.EFBIG.Error(); code == exit.ExitDone || strings.TrimSpace(last) != want {
		t.Errorf("exit code %d: got %q, want %q", code, last, want)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
