package locks

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// The limits of the duration of a manually held lock: a forgotten one blocks all other runs
// until it expires.
const (
	shortestHold = time.Minute
	longestHold  = 24 * time.Hour
)

// locksTakeOptions are the options of `kubectl fdb locks take`.
type locksTakeOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	long time.Duration
}

func newLocksTake(env *session.Env) *cobra.Command {
	var o locksTakeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "take [CLUSTER]",
		Short: "Take the database lock manually",
		Long: `Take the database lock manually, for the control-plane instance of the cluster (its
spec.processGroupIDPrefix). Until it expires or is released, no other control-plane
instance changes the database, and neither does any pass of kubectl fdb, including those
for this cluster. Run the command again to change the expiry.

The lock is read and written in one transaction and read back. It is not taken from a
control-plane instance that holds it, nor by one on the deny list; --wait waits until it is
free.

An operator of the same control-plane instance is not blocked: it treats the lock as its
own. Pause it first with kubectl fdb pause.`,
		Example: `  # Block changes of the database during an investigation
  kubectl fdb locks take sample-cluster --for 30m --reason "looking at a log process"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Reversible(cmd, &o.ChangeFlags, "the lock is taken")
	cmd.Flags().DurationVar(&o.long, "for", 30*time.Minute, "duration of the lock, from 1m to 24h")
	return cmd
}

func (o locksTakeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if o.long < shortestHold || o.long > longestHold || o.long%time.Second != 0 {
		return exit.Usagef("--for must be whole seconds from 1m to 24h, such as 30m")
	}
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	user := reconcile.UserOf(env.Holder)
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: &keepingLock{user: user}, Lockless: true,
		Args:   []string{"locks", "take", key.Name, "--for", o.long.String()},
		Undo:   []string{"locks", "release", key.Name},
		Stages: []plan.Stage{operations.HoldLock(user, o.long)},
	})
}

// keepingLock is the goal of `locks take`: the lock in the database, read back.
type keepingLock struct {
	user  string
	until time.Time
}

func (k *keepingLock) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts, err := lockFacts(ctx, s)
	if err != nil {
		return nil, false, err
	}
	target := targets.LockKept(facts, k.user)
	if target.Reached {
		k.until = facts.Coordination.Lock.End
	}
	return []inspect.Target{target}, target.Reached, nil
}

func (k *keepingLock) Summary(apply.Extent) string {
	return "the lock is held manually until " + k.until.UTC().Format(time.RFC3339) + "; only a pause stops an operator with the same process group ID prefix"
}

// lockFacts reads the lock from the database.
func lockFacts(ctx context.Context, s session.Session) (inspect.Facts, error) {
	facts := inspect.Facts{}
	err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Coordination)
	return facts, err
}

// locksReleaseOptions are the options of `kubectl fdb locks release`.
type locksReleaseOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	force bool
}

func newLocksRelease(env *session.Env) *cobra.Command {
	var o locksReleaseOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "release [CLUSTER]",
		Short: "Release the database lock",
		Long: `Release the database lock of this control-plane instance: one that was taken manually or
left by a killed run. Others may act from then on, so the database must be fully fault
tolerant and no pod may be starting or terminating: the database reports a failed process
only a minute later. Otherwise the lock stays until it expires.

--force also clears a lock of another control-plane instance that has expired or whose
owner is on the deny list, and one that another user took manually for this control-plane
instance. It shows the owner and prompts. A valid lock of another control-plane instance is
never cleared, and neither is one that changed since it was shown; see locks deny for a
control-plane instance that is lost permanently.`,
		Example: `  # Release the lock
  kubectl fdb locks release sample-cluster

  # Release a lock that another user took manually
  kubectl fdb locks release sample-cluster --force --yes`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Change(cmd, &o.ChangeFlags, "the lock is free")
	cmd.Flags().BoolVar(&o.force, "force", false, "If true, also clear a lock that is expired or denied, or that another user took")
	declare.NotInSteps(cmd, "force")
	return cmd
}

func (o locksReleaseOptions) run(ctx context.Context, env *session.Env, args []string) error {
	o.Reversible = !o.force
	key, err := apply.Of(ctx, o.ClusterFlag, env, args, o.ChangeFlags)
	if err != nil {
		return err
	}
	words, release := []string{"locks", "release", key.Name}, operations.ReleaseLock
	if o.force {
		release = operations.ReleaseLockByForce
		words = append(words, "--force")
	}
	return apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: freeingLock{}, Args: words, Lockless: true,
		Stages: []plan.Stage{release(reconcile.UserOf(env.Holder))},
	})
}

// freeingLock is the goal of `locks release`: no lock in the database.
type freeingLock struct{}

func (freeingLock) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts, err := lockFacts(ctx, s)
	if err != nil {
		return nil, false, err
	}
	target := targets.LockFreed(facts)
	return []inspect.Target{target}, target.Reached, nil
}

func (freeingLock) Summary(to apply.Extent) string {
	if to == apply.Reached {
		return "the lock is free"
	}
	return "the lock was released and has been taken by another run since"
}
