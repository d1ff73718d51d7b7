// Kubectl-fdb is a kubectl plugin that reconciles FoundationDB clusters on Kubernetes on demand, without a
// running operator.
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
	log.SetLogger(logr.Discard()) // else controller-runtime prints a warning that no logger is set
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
