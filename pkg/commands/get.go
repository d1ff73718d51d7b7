package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// newGet is the parent of what can be listed. It is no command of its own.
func newGet(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get KIND",
		Short: "List parts of a cluster",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("get what?"), "kubectl fdb get process-groups")
			}
			return usage(fmt.Errorf("there is no kind %q to get; there is process-groups", args[0]), "kubectl fdb get --help")
		},
	}
	cmd.AddCommand(newGetProcessGroups(env))
	return cmd
}
