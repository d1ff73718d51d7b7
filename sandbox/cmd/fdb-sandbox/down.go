package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/machine"
)

func newDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "down --dir DIR",
		Short: "Stop a sandbox; its state stays in the directory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := checkDir(dir)
			if err != nil {
				return err
			}
			id, running, err := machine.Running(machine.Paths{Dir: dir})
			if err != nil {
				return err
			}
			if !running {
				fmt.Fprintln(cmd.OutOrStdout(), "no sandbox runs in", dir)
				return nil
			}
			if err := stop(cmd.Context(), id); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "stopped")
			return nil
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

const (
	stopLimit = 30 * time.Second // until a sandbox that does not stop is killed
	killLimit = 10 * time.Second
	stopPoll  = 50 * time.Millisecond
)

// stop ends that very process, its containers with it.
func stop(ctx context.Context, id machine.Identity) error {
	for _, s := range []struct {
		signal syscall.Signal
		limit  time.Duration
	}{{syscall.SIGTERM, stopLimit}, {syscall.SIGKILL, killLimit}} {
		if err := syscall.Kill(id.PID, s.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop process %d: %w", id.PID, err)
		}
		if ended(ctx, id, s.limit) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not end", id.PID)
}

func ended(ctx context.Context, id machine.Identity, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	poll := time.NewTicker(stopPoll)
	defer poll.Stop()
	for id.Alive() {
		select {
		case <-ctx.Done():
			return false
		case <-poll.C:
		}
	}
	return true
}
