package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/containers/unified"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
)

// unifiedMonitor is the program of the unified image.
func unifiedMonitor(args []string) (int, error) {
	version, err := os.ReadFile(unified.VersionFile)
	if err != nil {
		return 1, fmt.Errorf("reading the image's version: %w", err)
	}
	o, err := unified.ParseOptions(args, strings.TrimSpace(string(version)), wire.Environment(os.Environ()))
	if err != nil {
		return 2, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	out, err := logTo(o.LogPath)
	if err != nil {
		return 1, err
	}
	switch o.Mode {
	case unified.Init:
		return 0, unified.Copy(o)
	case unified.Sidecar:
		if err := unified.Copy(o); err != nil {
			return 1, err
		}
		<-ctx.Done()
		return 0, nil
	}
	pod, err := wire.WatchPod(ctx)
	if err != nil {
		return 1, err
	}
	defer pod.Close()
	facts := make(chan unified.Facts)
	go func() {
		defer close(facts)
		for f := range pod.Facts() {
			facts <- unified.Facts{Annotations: f.Annotations, NodeLabels: f.NodeLabels}
		}
	}()
	return 0, unified.RunLauncher(ctx, o, ownPod{pod, facts}, starter(), clock.RealClock{}, out)
}

// ownPod is the container's pod as the sandbox tells of it.
type ownPod struct {
	*wire.Pod
	facts <-chan unified.Facts
}

func (p ownPod) Facts() <-chan unified.Facts { return p.facts }

// logTo is standard output and, when a file is named, that file.
func logTo(file string) (io.Writer, error) {
	if file == "" {
		return os.Stdout, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return io.MultiWriter(os.Stdout, f), nil
}

// child is a process of this container.
type child struct{ cmd *exec.Cmd }

// starter starts processes that end with this program. The kernel ties their
// end to the thread that started them, so one thread starts them all and stays.
func starter() unified.Start {
	starts := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
	return func(argv []string) (unified.Process, error) {
		cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr}
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		done := make(chan error)
		starts <- func() { done <- cmd.Start() }
		if err := <-done; err != nil {
			return nil, err
		}
		return child{cmd}, nil
	}
}

// Wait returns the exit code; 128 plus the signal that ended the process.
func (c child) Wait() int {
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// Kill ends the process at once.
func (c child) Kill() {
	c.cmd.Process.Kill() //nolint:errcheck // it may have ended
}
