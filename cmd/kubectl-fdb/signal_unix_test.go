//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A connection that breaks ends a command in order: the action that runs is finished, and
// what is locked is released. The signal comes from the shell and from the kernel.
func TestSIGHUPInterruptsACommandGracefully(t *testing.T) {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP) // also where the tests run under nohup
	defer signal.Stop(received)
	ctx := untilSignal()
	hangUp := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Minute):
		t.Fatal("it goes on")
	}
	interrupted := new(*exit.InterruptedError)
	if cause := context.Cause(ctx); !errors.As(cause, interrupted) || (*interrupted).Signal != syscall.SIGHUP {
		t.Errorf("ended by %v", cause)
	}
	hangUp()
	time.Sleep(100 * time.Millisecond) // a signal that is not ignored ends this process
}
