package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/control"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/machine"
)

func newStatus() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status --dir DIR",
		Short: "Show the status of a sandbox",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := checkDir(dir)
			if err != nil {
				return err
			}
			paths := machine.Paths{Dir: dir}
			id, running, err := machine.Running(paths)
			if err != nil {
				return err
			}
			if !running {
				return fmt.Errorf("no sandbox runs in %s", dir)
			}
			var report machine.Report
			if err := control.Call(cmd.Context(), paths.ControlSocket(), "status", struct{}{}, &report); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "process %d\n", id.PID)
			report.Write(cmd.OutOrStdout())
			fmt.Fprintf(cmd.OutOrStdout(), "export KUBECONFIG=%s\n", paths.Kubeconfig())
			return nil
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}
