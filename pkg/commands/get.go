package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newGet is the parent of what can be listed. It is no command of its own.
func newGet(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get KIND",
		Short: "List the parts of a cluster",
	}
	cmd.AddCommand(newGetClusters(env), newGetProcessGroups(env), newGetProcesses(env), newCoordinatorsList(env, "coordinators"),
		newExclusionList(env, "exclusions"), newLocksList(env, "locks"), newGetConfiguration(env), newGetNodes(env), newGetClients(env))
	asParent(cmd, "get what?", "kind", "to get")
	return cmd
}

// asParent has a command that only groups others say which those are. Cobra by itself
// prints its help for a mistyped one, and succeeds.
func asParent(cmd *cobra.Command, question, what, toDo string) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var children []string
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				children = append(children, child.Name())
			}
		}
		there := "there is " + strings.Join(children, ", ")
		if len(args) == 0 {
			return usage(errors.New(question+" "+there), cmd.CommandPath()+" --help")
		}
		return usage(fmt.Errorf("there is no %s %q %s; %s", what, args[0], toDo, there), cmd.CommandPath()+" --help")
	}
}
