package commandstest

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// RunAll runs a command where the cluster "closed" cannot be opened.
func (g *Given) RunAll(args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	env := g.Environment()
	open := env.Connect
	env.Connect = func(ctx context.Context, key types.NamespacedName) (session.Session, error) {
		if key.Name == "closed" {
			return nil, errors.New("its door is shut")
		}
		return open(ctx, key)
	}
	code := commands.Run(g.T.Context(), env, args)
	if commands.JSONRequested(args) {
		Valid(g.T, strings.Join(args, " "), g.Out.Bytes())
	}
	return code
}
