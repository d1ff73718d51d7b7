package tools

import (
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/syntax"
)

// help lists the commands, or the transaction options. The list of options is
// long enough to push everything printed before it through the pipe.
func (c *cli) help(args []string) error {
	switch {
	case len(args) == 0:
		c.print("\nList of commands:\n\n")
		for _, name := range slices.Sorted(maps.Keys(commands)) {
			c.printf(" %s\n", name)
		}
		c.print("\nFor information on a specific command, type `help <command>'.\n" +
			"For information on escaping keys and values, type `help escaping'.\n" +
			"For information on available options, type `help options'.\n\n")
	case args[0] == "options":
		c.print("\nThe following options are available to be set using the `option' command:\n\n")
		for _, name := range syntax.TransactionOptions {
			c.printf("%s - %s\n\n", name, syntax.OptionMeaning(name))
		}
	case commands[args[0]] != nil:
		c.printf("\n%s\n\nThe simulated fdbcli has no longer text about this command.\n\n", args[0])
	default:
		c.printf("I don't know anything about `%s'\n", args[0])
	}
	return nil
}
