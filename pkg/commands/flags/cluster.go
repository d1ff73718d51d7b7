package flags

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Cluster adds the flag that names a cluster instead of the first argument.
func Cluster(cmd *cobra.Command, env *session.Env, f *session.ClusterFlag) {
	cmd.Flags().StringVarP(&f.Name, "fdb-cluster", "c", "", "name of the FoundationDBCluster; equivalent to the argument CLUSTER")
	complete.FlagWith(cmd, "fdb-cluster", complete.From(env).ClusterNames)
}
