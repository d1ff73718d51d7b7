package commandstest

import (
	"strings"

	"github.com/spf13/cobra"
)

// Leaves returns all commands that do something, by name.
func Leaves(root *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			all[strings.TrimPrefix(c.CommandPath(), "kubectl fdb ")] = c
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
	return all
}
