package tools

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// NewCompletion returns the command `completion`.
func NewCompletion(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Support, Pages: []string{"support.md#shell-completion"}, Local: true, NoStep: "it is for shells", Prints: "a script"}, &cobra.Command{
		Use:   "completion SHELL",
		Short: "Generate the shell completion script",
		Long: `Generate the shell completion script for bash, zsh, fish or powershell. It also completes
the names of clusters, process groups, namespaces and contexts.

The script is for kubectl-fdb. For kubectl fdb, use completion install.`,
		Example: `  # Install completion for kubectl fdb
  kubectl-fdb completion install

  # Load completion for kubectl-fdb into the current shell
  source <(kubectl-fdb completion bash)`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("shell is required: one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeCompletion(env, cmd.Root(), args[0]) },
	})
	cmd.AddCommand(newCompletionInstall(env))
	return cmd
}

func writeCompletion(e *session.Env, root *cobra.Command, shell string) error {
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(layout.Raw(e.Out), true)
	case "zsh":
		err = root.GenZshCompletion(layout.Raw(e.Out))
	case "fish":
		err = root.GenFishCompletion(layout.Raw(e.Out), true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(layout.Raw(e.Out))
	default:
		return exit.Usagef("unsupported shell %q: must be one of %s", shell, strings.Join(shells, ", "))
	}
	if err != nil {
		return fmt.Errorf("print the completion script: %w", err)
	}
	return nil
}
