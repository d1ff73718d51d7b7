package cmdutil

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// InContext adds the context to a hint if it is not the default one.
func InContext(e *session.Env, hint string) string {
	isCommand := strings.HasPrefix(hint, "kubectl ") && !strings.HasSuffix(hint, "--help")
	isLocal := strings.HasPrefix(hint, "kubectl config ") || strings.HasPrefix(hint, "kubectl fdb completion ")
	name := e.Connection().ContextName()
	if !isCommand || isLocal || name == "" || strings.Contains(hint, " --context ") {
		return hint
	}
	return hint + " --context " + session.Quoted(name)
}
