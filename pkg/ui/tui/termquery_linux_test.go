package tui

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A program that links the dashboard must not query the terminal before it shows the
// dashboard.
func TestLinkingTheDashboardDoesNotQueryTheTerminal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run", "^TestTheCIVariableIsRestoredAfterTheTerminalQuery$", "-test.v")
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CI=") }), "TERM=xterm-256color")
	terminal, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	began := time.Now()
	output, _ := io.ReadAll(terminal) // it ends with an error once the terminal is closed
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if bytes.ContainsRune(output, '\x1b') {
		t.Errorf("within %s the terminal received %q", time.Since(began), output)
	}
	if !bytes.Contains(output, []byte("PASS: TestTheCIVariableIsRestoredAfterTheTerminalQuery")) {
		t.Errorf("the program printed %q", output)
	}
}

func TestTheCIVariableIsRestoredAfterTheTerminalQuery(t *testing.T) {
	if got := os.Getenv("CI"); got == "termquery" {
		t.Errorf("CI=%s stays in the environment", got)
	}
}
