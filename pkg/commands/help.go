package commands

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// slop is by how much pflag exceeds the width that it is given.
const slop = 5

// fitHelp makes help fit the terminal: its prose, and the descriptions of flags.
func fitHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		width := layout.Width(out)
		if width == 0 {
			usual(cmd, args)
			return
		}
		cmd.Long = layout.Reflow(cmd.Long, width)
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", width-slop)))
		var text bytes.Buffer // templates print word by word, and a page wraps whole lines
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(out)
		_, _ = text.WriteTo(out) // help has no error to return
	})
}

// newOptions returns the command `options`, which kubectl has for the same.
func newOptions(env *session.Env) *cobra.Command {
	return declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Support, Pages: []string{"commands.md"}, Local: true}, &cobra.Command{
		Use:   "options",
		Short: "List the flags of all commands",
		Long: `List the flags that all commands have: those that select an API server and a user, and those
of output, transport and restrictions. No API server is contacted.`,
		Example: `  # List the flags of all commands
  kubectl fdb options`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(env.Out, flagsOfAll(cmd.Root(), layout.Width(env.Out)))
			return err
		},
	})
}

// flagsOfAll returns the flags of all commands with their descriptions; a width of 0 is no limit.
func flagsOfAll(root *cobra.Command, width int) string {
	if width == 0 {
		return root.PersistentFlags().FlagUsages()
	}
	return root.PersistentFlags().FlagUsagesWrapped(width - slop)
}
