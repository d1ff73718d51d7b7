package commands

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/clusters"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/coordinators"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/locks"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/nodes"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// newGet is the parent of the get commands. It does nothing by itself.
func newGet(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"inspect.md"}}, &cobra.Command{
		Use:   "get KIND",
		Short: "List the parts of a cluster",
	})
	cmd.AddCommand(clusters.NewGetClusters(env), groups.NewGetProcessGroups(env), clusters.NewGetProcesses(env), coordinators.NewGet(env),
		groups.NewGetExclusions(env), locks.NewGet(env), clusters.NewGetConfiguration(env), nodes.NewGetNodes(env), clusters.NewGetClients(env))
	cmdutil.AsParent(cmd, "resource type")
	return cmd
}
