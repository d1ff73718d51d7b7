// Command fdb-sandbox runs Kubernetes and FoundationDB on one machine, without
// a cloud: a real API server with nodes, volumes and pods, and simulated or
// real FoundationDB processes behind them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "fdb-sandbox",
		Short:         "Kubernetes and FoundationDB on one machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(newUp(), newDown(), newStatus(), newNode(), newPod(), newVolume(), newDatabase(), newAPI(), newTime())
	return cmd
}
