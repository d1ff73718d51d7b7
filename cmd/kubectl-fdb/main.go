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
)

func main() {
	log.SetLogger(logr.Discard()) // else it complains that nobody set one
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		received := <-signals
		signal.Stop(signals) // the next one ends the program at once
		cancel(&commands.InterruptedError{Signal: received})
	}()
	os.Exit(commands.Run(ctx, commands.NewEnv(), os.Args[1:]))
}
