// Kubectl-fdb is a kubectl plugin that runs FoundationDB clusters on demand.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func main() {
	log.SetLogger(logr.Discard()) // else it complains that no logger is set
	os.Exit(commands.Run(untilSignal(), session.NewEnv(), os.Args[1:]))
}

// untilSignal is a context that the first signal ends. A second one ends the program at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		received := <-signals
		if received == syscall.SIGHUP {
			signal.Ignore(syscall.SIGHUP) // the shell and the kernel both send it
		}
		signal.Stop(signals)
		cancel(&exit.InterruptedError{Signal: received})
	}()
	return ctx
}
