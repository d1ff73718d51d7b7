package locks

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewLocks is the parent of the commands about the database lock. It does nothing by itself.
func NewLocks(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"maintenance.md#hold-the-database-lock"}}, &cobra.Command{
		Use:     "locks",
		Aliases: []string{"lock"},
		Short:   "Manage the database lock and its deny list",
	})
	cmd.AddCommand(newLocksTake(env), newLocksRelease(env), newLocksDeny(env), newLocksAllow(env))
	cmdutil.AsParent(cmd, "locks command")
	return cmd
}

// getOptions are the options of `kubectl fdb get locks`.
type getOptions struct{ cmdutil.ViewOptions }

// NewGet returns the command `get locks`.
func NewGet(env *session.Env) *cobra.Command {
	var o getOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "locks [CLUSTER]",
		Short: "List the owner, expiry and deny list of the database lock",
		Long: `List the owner and expiry of the database lock, and the deny list.

The lock is also read if the spec of the cluster does not use it. The second table compares
the deny list in the database with spec.lockOptions.denyList: an entry that is only deleted
from the spec stays denied. -o wide adds announced upgrades and the lists by which
control-plane instances coordinate.`,
		Example: `  # Show the owner and expiry of the lock
  kubectl fdb get locks sample-cluster

  # Include upgrades and lists of all control-plane instances
  kubectl fdb get locks sample-cluster -o wide

  # Print the seconds until the lock expires
  kubectl fdb get locks sample-cluster -o jsonpath={.items[0].secondsLeft}`,
	})
	o.AddView(cmd, env, o.view)
	return cmd
}

func (o *getOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := sharedFacts(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	if !facts.Coordination.Read {
		return cmdutil.Output{}, groups.Unanswered(facts, "the lock holder")
	}
	v := inspect.NewLockListView(env.Metadata(key), facts)
	p := o.Listed(env, v, session.NamesOf("lock", v.Items, func(l inspect.LockView) string { return l.Cluster }))
	p.Table = func(w io.Writer) error { return ui.WriteLocks(w, v, o.List(env)) }
	return cmdutil.Output{Warnings: v.Warnings, Printable: p}, nil
}

// sharedFacts returns the facts about one cluster and the state shared by all control-plane
// instances, whether or not the spec enables locks.
func sharedFacts(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.Facts, error) {
	asks := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}
	return cmdutil.CoordinationFacts(ctx, asks, "the shared state of control-plane instances", func(ctx context.Context, r session.Reader, into *plan.CoordinationFacts) (err error) {
		*into, err = r.ReadShared(ctx)
		return err
	})
}
