package commandstest

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Removing lets the simulated cluster follow what is deleted in the API server.
func (g *Given) Removing(fails error) func(e *session.Env) {
	return func(e *session.Env) {
		api := g.Client()
		watched, is := api.(client.WithWatch)
		if !is {
			g.T.Fatal("no watch")
		}
		api = interceptor.NewClient(watched, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if fails != nil {
				return fails
			}
			var options client.DeleteOptions
			options.ApplyOptions(opts)
			if p := options.Preconditions; p == nil || p.UID == nil || p.ResourceVersion == nil {
				g.T.Errorf("%T %s is deleted without preconditions", o, o.GetName())
			}
			return c.Delete(ctx, o)
		}})
		e.Client = func() (client.Client, error) { return api, nil }
	}
}

// GC runs gc in an environment that was changed.
func (g *Given) GC(change func(*session.Env), args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	env := g.Environment()
	change(env)
	code := commands.Run(g.T.Context(), env, append([]string{"gc"}, args...))
	if commands.JSONRequested(args) {
		Valid(g.T, strings.Join(args, " "), g.Out.Bytes())
	}
	return code
}

// Contended is a session whose gates can begin to refuse, and whose Lease has operations.
type Contended struct {
	Simulated
	// Evaluated counts how often they were evaluated; from RefuseAt on, an operator runs; 0 for never.
	Evaluated, RefuseAt int
	Other               *reconcile.Operation
	Own                 []reconcile.Operation
	Ends                int
}

// Gates implements session.Session.
func (s *Contended) Gates(ctx context.Context, o live.GateOptions) ([]plan.Check, error) {
	if s.Evaluated++; s.RefuseAt > 0 && s.Evaluated >= s.RefuseAt {
		return []plan.Check{{ID: plan.CheckNoOperator, Gate: plan.GateOperator, Evidence: "an operator runs", OK: o.Coexist}}, nil
	}
	return s.Simulated.Gates(ctx, o)
}

// Operations implements reconcile.Operator.
func (s *Contended) Operations() reconcile.OperationKeeper { return s }

// OtherOperation implements reconcile.OperationKeeper.
func (s *Contended) OtherOperation(context.Context) (*reconcile.Operation, error) {
	return s.Other, nil
}

// RefuseBesideOthers implements reconcile.OperationKeeper.
func (s *Contended) RefuseBesideOthers() {}

// SetOperation implements reconcile.OperationKeeper.
func (s *Contended) SetOperation(o reconcile.Operation) { s.Own = append(s.Own, o) }

// KeepOperation implements reconcile.OperationKeeper.
func (s *Contended) KeepOperation(context.Context) error { return nil }

// EndOperation implements reconcile.OperationKeeper.
func (s *Contended) EndOperation(context.Context) error { s.Ends++; return nil }

// AbortRequest implements reconcile.OperationKeeper.
func (s *Contended) AbortRequest(context.Context) (*reconcile.OperationAbort, error) {
	return nil, nil
}

// RenewOperation implements reconcile.OperationKeeper.
func (s *Contended) RenewOperation(context.Context, reconcile.OperationProgress) error { return nil }

// Sharing has a command use one session, with others around.
func (g *Given) Sharing(s *Contended) *Contended {
	s.Simulated = Simulated{g.Cluster, g}
	g.Connect = func() (session.Session, error) { return s, nil }
	return s
}
