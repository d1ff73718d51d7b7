// Package locks holds the commands for locks, maintenance and pauses.
package locks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
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
	p.Table = func(w io.Writer) error { return ui.WriteLocks(w, v, o.List(env, w)) }
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

// denyOptions are the options of `kubectl fdb locks deny` and `locks allow`.
type denyOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	// entry is the new one of the deny list.
	entry v1beta2.LockDenyListEntry
}

func newLocksDeny(env *session.Env) *cobra.Command {
	return denyOptions{}.command(env, declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "deny [CLUSTER] INSTANCE",
		Short: "Add a control-plane instance to the deny list",
		Long: `Add a control-plane instance to the deny list of the database lock, so that others can take
over a lock that it holds. INSTANCE is its spec.processGroupIDPrefix; a single argument is
INSTANCE.
Denying the lock to this control-plane instance itself needs approval: its own passes are
refused from then on.

The deny list in the database is changed and read back. The spec of the cluster is not
changed; a hint prints the command that updates it.`,
		Example: `  # Deny the lock to the control-plane instance of a lost data center
  kubectl fdb locks deny sample-cluster dc2 --reason "dc2 is lost"`,
	}))
}

func newLocksAllow(env *session.Env) *cobra.Command {
	return denyOptions{entry: v1beta2.LockDenyListEntry{Allow: true}}.command(env, declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Needs:  cmdutil.Reconciling,
	}, &cobra.Command{
		Use:   "allow [CLUSTER] INSTANCE",
		Short: "Remove a control-plane instance from the deny list",
		Long: `Remove a control-plane instance from the deny list of the database lock. INSTANCE is its
spec.processGroupIDPrefix; a single argument is INSTANCE.

The deny list in the database is changed and read back. The spec of the cluster is not
changed: while the spec denies the lock, the next pass restores the entry in the database,
and a hint prints the command that updates the spec. Deleting the entry from the spec is
not enough: it needs allow: true.`,
		Example: `  # Allow the lock after the recovery of a data center
  kubectl fdb locks allow sample-cluster dc2`,
	}))
}

// command completes a command with these options.
func (o denyOptions) command(env *session.Env, cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.RangeArgs(1, 2)
	cmd.ValidArgsFunction = complete.From(env).FirstArgument
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) }
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Reversible(cmd, &o.ChangeFlags, "the deny list in the database is changed")
	return cmd
}

func (o denyOptions) run(ctx context.Context, env *session.Env, args []string) error {
	instance := args[len(args)-1]
	if instance == "" || strings.ContainsFunc(instance, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' }) {
		return exit.Usagef("invalid control-plane instance %q: must be a spec.processGroupIDPrefix", instance)
	}
	if err := o.Check(env); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args[:len(args)-1], o.Name, o.Intent())
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	o.entry.ID = instance
	if !o.entry.Allow && instance == cluster.LockOwner() {
		env.Logf("warning: %s is this control-plane instance itself: it gets no lock until it is allowed again", instance)
		o.Reversible = false
	}
	verb, undo := "allow", "deny"
	if !o.entry.Allow {
		verb, undo = undo, verb
	}
	err = apply.CarryOut(ctx, env, key, apply.Change{
		ChangeFlags: o.ChangeFlags, Permissions: session.ReconcilePermissions(), Goal: denying(o.entry), Lockless: true,
		Args: []string{"locks", verb, key.Name, instance}, Undo: []string{"locks", undo, key.Name, instance},
		Stages: []plan.Stage{operations.ChangeDenyList(o.entry, reconcile.UserOf(env.Holder), o.Reason)},
	})
	if err == nil && o.DryRun == apply.DryRunNone {
		offerDenyList(env, cluster, o.entry)
	}
	return err
}

// offerDenyList prints the command that makes the same change to the deny list in the spec. A
// merge patch replaces the whole list, so it includes all entries.
func offerDenyList(e *session.Env, cluster *v1beta2.FoundationDBCluster, desired v1beta2.LockDenyListEntry) {
	there := cluster.Spec.LockOptions.DenyList
	i := slices.IndexFunc(there, func(entry v1beta2.LockDenyListEntry) bool { return entry.ID == desired.ID })
	if (i >= 0 && there[i] == desired) || (i < 0 && desired.Allow) {
		return
	}
	why := "hint: to update the spec as well: "
	if i >= 0 {
		why = "warning: the spec conflicts with this, so the next pass reverts it; to update the spec: "
	}
	list := append(slices.DeleteFunc(slices.Clone(there), func(entry v1beta2.LockDenyListEntry) bool { return entry.ID == desired.ID }), desired)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"lockOptions": map[string]any{"denyList": list}}})
	if err != nil {
		return // strings always marshal
	}
	e.Logf("%s%s", why, apply.PatchCommand(e, cluster, patch))
}

// denying is the goal of `locks deny` and `locks allow`: the deny list in the database, read
// back.
type denying v1beta2.LockDenyListEntry

func (o denying) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Coordination); err != nil {
		return nil, false, err
	}
	target := targets.DenyListEntry(facts, v1beta2.LockDenyListEntry(o))
	return []inspect.Target{target}, target.Reached, nil
}

func (o denying) Summary(apply.Extent) string {
	if !o.Allow {
		return fmt.Sprintf("%s is on the deny list of the database", o.ID)
	}
	return fmt.Sprintf("%s is not on the deny list of the database", o.ID)
}
