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

// A program that has the screen in it must not ask the terminal anything before somebody
// wants to see the screen.
func TestNothingIsAskedOfTheTerminalByLinkingTheScreen(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run", "^TestEnvironmentIsAsItWas$", "-test.v")
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CI=") }), "TERM=xterm-256color")
	terminal, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	began := time.Now()
	said, _ := io.ReadAll(terminal) // it ends with an error once nobody has the terminal any more
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if bytes.ContainsRune(said, '\x1b') {
		t.Errorf("within %s the terminal was told %q", time.Since(began), said)
	}
	if !bytes.Contains(said, []byte("PASS: TestEnvironmentIsAsItWas")) {
		t.Errorf("the program said %q", said)
	}
}

func TestEnvironmentIsAsItWas(t *testing.T) {
	if got := os.Getenv("CI"); got == "hush" {
		t.Errorf("CI=%s stays in the environment", got)
	}
}
