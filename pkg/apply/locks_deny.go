package apply

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// PatchCommand returns the kubectl command that merges a patch into a cluster's resource.
func PatchCommand(e *session.Env, record *v1beta2.FoundationDBCluster, patch []byte) string {
	line := []string{"kubectl", "patch", "foundationdbcluster", record.Name, "-n", record.Namespace}
	if name := e.Connection().ContextName(); name != "" {
		line = append(line, "--context", name)
	}
	line = append(line, "--type", "merge", "-p", string(patch))
	for i, word := range line {
		line[i] = session.Quoted(word)
	}
	return strings.Join(line, " ")
}
