// Package process starts the servers of a container and waits for them. A
// server it started never outlives the program that started it.
package process

import (
	"errors"
	"io"
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a running server.
type Process interface {
	PID() int
	Wait() (exitCode int) // until it has ended; 128 plus the signal when one ended it
	Kill()
}

// Start starts a server with an argument vector.
type Start func(argv []string) (Process, error)

// Starter starts programs with an environment. The kernel ties their end to
// the thread that started them, so one thread starts them all and stays.
func Starter(env []string, stdout, stderr io.Writer) Start {
	starts := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
	return func(argv []string) (Process, error) {
		cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: env, Stdout: stdout, Stderr: stderr}
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		done := make(chan error)
		starts <- func() { done <- cmd.Start() }
		if err := <-done; err != nil {
			return nil, err
		}
		return child{cmd}, nil
	}
}

// child is a process of this container.
type child struct{ cmd *exec.Cmd }

func (c child) PID() int { return c.cmd.Process.Pid }

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

func (c child) Kill() {
	c.cmd.Process.Kill() // it may have ended
}
