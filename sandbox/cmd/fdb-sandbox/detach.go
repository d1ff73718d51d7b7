package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/machine"
)

// readyVariable informs a detached sandbox that a process waits for
// readyLine.
const readyVariable = "FDB_SANDBOX_DETACHED"

// readyLine is the last line a detached sandbox writes to who started it.
const readyLine = "\x00ready"

func announceReady(out io.Writer) {
	if os.Getenv(readyVariable) != "" {
		fmt.Fprintln(out, readyLine)
	}
}

// detachLimit bounds the wait for a detached sandbox to be ready.
const detachLimit = 5 * time.Minute

// detach starts this program again in a session of its own and forwards its
// output until it is ready.
func detach(ctx context.Context, dir string, args []string, out io.Writer) error {
	dir, err := checkDir(dir)
	if err != nil {
		return err
	}
	paths := machine.Paths{Dir: dir}
	if err := paths.Prepare(); err != nil {
		return err
	}
	_, running, err := machine.Running(paths)
	if running {
		err = errors.Join(err, machine.ErrRunning)
	}
	if err != nil {
		return err
	}
	said, child, err := startDetached(paths, args)
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer said.Close()
	limited, cancel := context.WithTimeout(ctx, detachLimit)
	defer cancel()
	stop := context.AfterFunc(limited, func() { child.Process.Signal(syscall.SIGTERM) }) // it may have ended
	defer stop()
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if lines.Text() == readyLine {
			return child.Process.Release()
		}
		fmt.Fprintln(out, lines.Text())
	}
	return fmt.Errorf("the sandbox did not start (%w): %s", child.Wait(), lastLine(paths.Log()))
}

func startDetached(paths machine.Paths, args []string) (said *os.File, child *exec.Cmd, err error) {
	log, err := os.OpenFile(paths.Log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	said, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--detach" || strings.HasPrefix(a, "--detach=") })
	child = &exec.Cmd{
		Path: self, Args: append([]string{self}, args...), Env: append(os.Environ(), readyVariable+"=1"),
		Stdout: theirs, Stderr: log, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	return said, child, child.Start()
}

func lastLine(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}
