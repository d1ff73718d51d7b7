package apply

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// PatchCommand returns the kubectl command that merges a patch into a cluster's resource.
func PatchCommand(e *session.Env, cluster *v1beta2.FoundationDBCluster, patch []byte) string {
	return e.Where(cluster.Namespace).ShellLine([]string{"kubectl", "patch", "foundationdbcluster", cluster.Name}, []string{"--type", "merge", "-p", string(patch)})
}
