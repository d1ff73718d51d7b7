package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// terminal is a user's terminal, with a program that runs in it.
type terminal struct {
	t      *testing.T
	screen vt10x.Terminal
	pty    *os.File
	tty    *os.File
	// before is how the terminal was set up before the program began.
	before unix.Termios
	ended  chan error
}

// sit starts kubectl fdb in a terminal.
func sit(t *testing.T, args ...string) *terminal {
	t.Helper()
	const rows, columns = 40, 110
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, pty: master, tty: tty, ended: make(chan error, 1)}
	s.screen = vt10x.New(vt10x.WithSize(columns, rows), vt10x.WithWriter(master))
	s.before = s.settings()
	go s.draw()
	fmt.Fprint(tty, "what was on the terminal before\r\n")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), append([]string{"fdb"}, args...)...)
	cmd.Env = append(environment(t), "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		_ = tty.Close()
		_ = master.Close()
	})
	return s
}

// draw keeps the emulated screen as the program draws it.
func (s *terminal) draw() {
	chunk := make([]byte, 4096)
	for {
		n, err := s.pty.Read(chunk)
		if _, drawErr := s.screen.Write(chunk[:n]); err != nil || drawErr != nil {
			return
		}
	}
}

func (s *terminal) settings() unix.Termios {
	s.t.Helper()
	settings, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *settings
}

// text is the visible text, without the blanks at the ends of lines.
func (s *terminal) text() string {
	lines := strings.Split(s.screen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// press types keys, one after the other.
func (s *terminal) press(keys string) {
	s.t.Helper()
	for _, key := range keys {
		if _, err := io.WriteString(s.pty, string(key)); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// escape leaves what shows some words. A key that came right after escape would be taken
// for one that was pressed with Alt.
func (s *terminal) escape(words string) {
	s.t.Helper()
	s.press("\x1b")
	s.removed(words)
}

// removed waits until the terminal no longer shows words.
func (s *terminal) removed(words string) {
	s.t.Helper()
	for end := time.Now().Add(soonEnough); strings.Contains(s.text(), words); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%q still shows after %s:\n%s", words, soonEnough, s.text())
		}
	}
}

// see waits until the terminal shows any of the words, and returns which.
func (s *terminal) see(atMost time.Duration, words ...string) string {
	s.t.Helper()
	for end := time.Now().Add(atMost); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		text := s.text()
		for _, w := range words {
			if strings.Contains(text, w) {
				return w
			}
		}
		select {
		case err := <-s.ended:
			s.t.Fatalf("ended with %v; it shows\n%s", err, text)
		default:
		}
	}
	s.t.Fatalf("%q does not show within %s, but\n%s", words, atMost, s.text())
	return ""
}

// leave presses q, and makes sure that the terminal is as it was.
func (s *terminal) leave() {
	s.t.Helper()
	began := time.Now()
	s.press("q")
	select {
	case err := <-s.ended:
		if exit, failed := errors.AsType[*exec.ExitError](err); failed {
			s.t.Errorf("ended with exit code %d:\n%s", exit.ExitCode(), s.text())
		}
	case <-time.After(stall):
		s.t.Fatalf("q does not end it:\n%s", s.text())
	}
	// The dashboard exits within 200 ms, but other tests run beside this one, so that a process has to
	// wait for its turn.
	if took := time.Since(began); took > soonEnough {
		s.t.Errorf("leaving took %s", took)
	} else {
		s.t.Logf("leaving took %s", took)
	}
	if after := s.settings(); after != s.before {
		s.t.Errorf("the terminal was set up as\n%+v and is left as\n%+v", s.before, after)
	}
	s.see(soonEnough, "what was on the terminal before")
	if s.screen.Mode()&vt10x.ModeAltScreen != 0 || !s.screen.CursorVisible() {
		s.t.Error("the alternate screen was not left, or the cursor stays hidden")
	}
}

// soonEnough is how soon a key shows. The machine may be busy with other tests.
const soonEnough = 5 * time.Minute

// longEnough bounds a whole operation. The lines of a screen change with the time, so they
// are no sign of progress.
const longEnough = 20 * time.Minute

func TestTheDashboardShowsEveryPaneAndReplacesAProcessGroup(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	recording := filepath.Join(t.TempDir(), "screen.ndjson")
	s := sit(t, "watch", "c", "-n", ns, "--allow-actions", "--record", recording)
	s.see(soonEnough, "Healthy")
	for key, title := range map[string]string{
		"2": "[2 nodes]", "3": "[3 exclusions]", "4": "[4 coordinators]", "5": "[5 plan]", "6": "[6 locks]", "7": "[7 events]", "8": "[8 pass]", "9": "[9 backups]", "0": "[0 load]",
	} {
		s.press(key)
		s.see(soonEnough, title)
	}
	s.press("?")
	s.see(soonEnough, "process groups and their conditions")
	s.escape("process groups and their conditions")
	s.press("1")
	s.see(soonEnough, "[1 groups]")
	old := storageGroups(t, ns)[0]
	s.press("/" + old + "\r")
	s.see(soonEnough, "only "+old)
	s.press("R")
	s.see(soonEnough, "- process groups   "+old)
	s.see(soonEnough, "kubectl fdb replace c "+old+" --wait -n "+ns)
	s.agreeUntil("done, ")
	// The command ends once the group is removed; its exclusion ends later.
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait=all", "--yes"), 0)
	s.recorded(recording, old+": removed")
	s.leave()
	if left := strings.Join(storageGroups(t, ns), " "); strings.Contains(left, old) {
		t.Errorf("%s is still there: %s", old, left)
	}
	want(t, fdb(t, "status", "c", "-n", ns), 0)
	s.replays(recording, old)
}

// agreeUntil confirms every prompt, until the words show.
func (s *terminal) agreeUntil(words string) {
	s.t.Helper()
	for s.see(longEnough, "Go ahead?", "✓ "+words, "✗ "+words) == "Go ahead?" {
		s.press("y\r")
		s.removed("Go ahead?")
	}
}

// recorded waits until a recording has the words: an operation ends before the dashboard
// reads its outcome.
func (s *terminal) recorded(recording, words string) {
	s.t.Helper()
	for end := time.Now().Add(stall); !strings.Contains(s.replay(recording).stdout, words); time.Sleep(time.Second) {
		if time.Now().After(end) {
			s.t.Fatalf("the recording lacks %q after %s; the terminal shows\n%s", words, stall, s.text())
		}
	}
}

// replay prints a recording, without a cluster.
func (s *terminal) replay(recording string) result {
	s.t.Helper()
	nowhere := func(c *exec.Cmd) { c.Env = append(c.Env, "KUBECONFIG=/nowhere/kubeconfig") }
	return runWith(s.t, nowhere, "kubectl-fdb", "watch", "--replay", recording, "--plain")
}

// replays checks that a recording shows the same, without a cluster.
func (s *terminal) replays(recording, old string) {
	s.t.Helper()
	r := s.replay(recording)
	want(s.t, r, 0)
	for _, words := range []string{old + ": marked for removal", old + ": removed", "did exclude " + old} {
		if !strings.Contains(r.stdout, words) {
			s.t.Errorf("the recording does not tell %q:\n%s", words, r.stdout)
		}
	}
}
