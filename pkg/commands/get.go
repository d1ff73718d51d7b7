package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newGet is the parent of the get commands. It does nothing by itself.
func newGet(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get KIND",
		Short: "List the parts of a cluster",
	}
	cmd.AddCommand(newGetClusters(env), newGetProcessGroups(env), newGetProcesses(env), newCoordinatorsList(env, "coordinators"),
		newExclusionList(env, "exclusions"), newLocksList(env, "locks"), newGetConfiguration(env), newGetNodes(env), newGetClients(env))
	asParent(cmd, "resource type")
	return cmd
}

// asParent makes a command that only groups others list them. Cobra by itself prints its help
// for an unknown one, and succeeds.
func asParent(cmd *cobra.Command, what string) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var children []string
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				children = append(children, child.Name())
			}
		}
		one := "must be one of " + strings.Join(children, ", ")
		if len(args) == 0 {
			return usage(errors.New(what+" is required: "+one), cmd.CommandPath()+" --help")
		}
		return usage(fmt.Errorf("unknown %s %q: %s", what, args[0], one), cmd.CommandPath()+" --help")
	}
}
