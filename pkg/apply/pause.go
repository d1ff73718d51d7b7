package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Of finds the cluster of a command that changes it, once its flags are validated.
func Of(ctx context.Context, f session.ClusterFlag, env *session.Env, args []string, c ChangeFlags) (types.NamespacedName, error) {
	if err := c.Check(env); err != nil {
		return types.NamespacedName{}, err
	}
	cluster, err := env.Cluster(ctx, args, f.Name, c.Intent())
	if err != nil {
		return types.NamespacedName{}, exit.CauseOf(ctx, err)
	}
	return types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, nil
}

// printPause warns once that a pass works on a cluster that is paused for operators: the user
// who paused it may not expect that.
func (p *Passes) printPause() func(reconcile.Event) {
	if p.Beside {
		return func(reconcile.Event) {}
	}
	return func(e reconcile.Event) {
		o, ok := e.(reconcile.Observed)
		if !ok || o.Facets&plan.ClusterResource == 0 || o.Snapshot.Cluster == nil {
			return
		}
		state, words := "", ""
		if v := inspect.NewPauseView(inspect.Facts{Snapshot: o.Snapshot}); v != nil {
			words = "paused: " + v.Text(o.Snapshot.Now) + "; this run acts on it regardless"
			state = v.Reason + v.By + map[bool]string{true: "overdue", false: "paused"}[v.Overdue]
			if v.Overdue {
				words = "warning: " + words + "; to end the pause: " + p.Env.Command("resume", p.Key.Name)
			}
		}
		if state != p.paused && words != "" {
			p.Env.Logf("%s", words)
		}
		p.paused = state
	}
}
