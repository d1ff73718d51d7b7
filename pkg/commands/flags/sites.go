package flags

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// Sites adds the flags of a command that can read a database with resources in several Kubernetes clusters.
func Sites(cmd *cobra.Command, f *sites.Flags, env *session.Env) {
	cmd.Flags().StringSliceVar(&f.Contexts, "contexts", nil, "comma-separated kubeconfig contexts, one for each Kubernetes cluster of the database")
	cmd.Flags().StringVar(&f.File, "sites", "", "file with the Kubernetes clusters of the database; "+sites.Variable+" sets it as well (see docs/sites.md)")
	declare.NotInSteps(cmd, "contexts", "sites")
	complete.FlagAs(cmd, "contexts", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return moreContexts(complete.From(env).ContextNames(cmd.Context(), cmd, args), typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	complete.FlagAs(cmd, "sites", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	})
}

// moreContexts returns lists of contexts that begin with those typed already, and none of them twice.
func moreContexts(names []string, typed string) []string {
	given := typed[:strings.LastIndex(typed, ",")+1]
	var all []string
	for _, name := range names {
		if !slices.Contains(strings.Split(given, ","), name) {
			all = append(all, given+name)
		}
	}
	return all
}
