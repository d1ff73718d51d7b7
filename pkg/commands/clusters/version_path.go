package clusters

import (
	"os"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// pluginOnPath returns a warning if kubectl runs another plugin than this program.
func pluginOnPath(env *session.Env) []string {
	self, err := os.Executable()
	if err != nil {
		return nil // unknown is no reason to warn of another one
	}
	var found []string
	for _, file := range session.PluginsOnPath(env.Getenv("PATH")) {
		found = append(found, session.ResolvedPath(file))
	}
	return lists.FirstOnPath(session.ResolvedPath(self), found)
}
