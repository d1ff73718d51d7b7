package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what is written to the second can be read from the first.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// A program that has the screen in it must not ask the terminal anything before somebody
// wants to see the screen.
func TestNothingIsAskedOfTheTerminalByLinkingTheScreen(t *testing.T) {
	master, slave := terminal(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run", "^TestEnvironmentIsAsItWas$", "-test.v")
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CI=") }), "TERM=xterm-256color")
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	began := time.Now()
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	said := make([]byte, 64<<10)
	n, err := master.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(said[:n], '\x1b') || took > 4*time.Second {
		t.Errorf("the terminal was told %q within %s", said[:n], took)
	}
	if !bytes.Contains(said[:n], []byte("PASS: TestEnvironmentIsAsItWas")) {
		t.Errorf("the program said %q", said[:n])
	}
}

func TestEnvironmentIsAsItWas(t *testing.T) {
	if got := os.Getenv("CI"); got == "hush" {
		t.Errorf("CI=%s stays in the environment", got)
	}
}
