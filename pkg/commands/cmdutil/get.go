package cmdutil

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// AsParent makes a command without an action of its own fail with the list of its subcommands, if none or an
// unknown one is given. Cobra itself prints the help and succeeds.
func AsParent(cmd *cobra.Command, what string) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var children []string
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				children = append(children, child.Name())
			}
		}
		if len(args) == 0 {
			return exit.Usage(errors.New(what+" is required: must be one of "+strings.Join(children, ", ")), cmd.CommandPath()+" --help")
		}
		return session.Unknown(what, args[0], children, cmd.CommandPath()+" --help")
	}
}

// AlsoCalled has a command accept other names of its flags, as the operator's plugin calls them.
func AlsoCalled(cmd *cobra.Command, own map[string]string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if ours, is := own[name]; is {
			name = ours
		}
		return pflag.NormalizedName(name)
	})
}
