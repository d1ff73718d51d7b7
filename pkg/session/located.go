package session

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Located adds context and API server to an error that another context, or other credentials, may resolve.
func (e Connection) Located(err error) error {
	var hints []string
	switch {
	case apierrors.IsUnauthorized(err):
		err = &exit.LoggedOutError{Where: e.where(), Err: err}
		hints = []string{live.LogInAgain, "list other contexts: " + kubectlConfig(e.Env, "get-contexts")}
	case errors.Is(err, exit.ErrMissingKind):
		err = fmt.Errorf("%s: %w", e.where(), err)
		hints = []string{
			"list other contexts: " + kubectlConfig(e.Env, "get-contexts"),
			"if this is the right cluster, install the custom resource definitions: " + e.Command("install", "crds", "--dry-run"),
		}
	default:
		return err
	}
	located := &exit.Error{Code: exit.Code(err), Err: err, Hints: hints}
	if known, is := errors.AsType[*exit.Error](err); is {
		located.Printed, located.Differences = known.Printed, known.Differences
	}
	return located
}

// where names the API server, and the context that leads to it.
func (e Connection) where() string {
	server := "the API server"
	if config, err := e.Config(); err == nil && config.Host != "" {
		server += " " + config.Host
	}
	name := e.ContextName()
	if name == "" {
		return server
	}
	return "context " + name + ", " + server
}
