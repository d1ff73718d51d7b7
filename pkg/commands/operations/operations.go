// Package operations holds the commands for operations: commands with --wait, as other users see them.
package operations

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// NewOperations is the parent of the commands about operations. It does nothing by itself.
func NewOperations(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Management, Pages: []string{"reconcile.md#operations"}}, &cobra.Command{
		Use:     "operations",
		Aliases: []string{"operation"},
		Short:   "List, follow and abort operations of all users",
	})
	cmd.AddCommand(newList(env), newFollow(env), newAbort(env))
	cmdutil.AsParent(cmd, "operations command")
	return cmd
}

// listOptions are the options of `kubectl fdb operations list`.
type listOptions struct {
	session.ClusterFlag
	format.Flags
	cmdutil.PollOptions
	all bool
}

func newList(env *session.Env) *cobra.Command {
	var o listOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(cmdutil.ReadingLease()), cmdutil.Finding(), cmdutil.Optional("a named cluster is not found", cmdutil.TheResource()))
		},
	}, &cobra.Command{
		Use:   "list [CLUSTER]",
		Short: "List the operations of all users",
		Long: `List the operations on a cluster, or on all clusters of the namespace: commands with --wait
that run passes until their goal is reached, gc and recover apply, of all users. Each is
stored with the Lease of its cluster from its first change to its end.

STATE is active; aborting after "operations abort"; or lost if its run has not reported
for a minute, because it was killed or cannot reach the API server.`,
		Example: `  # List the operations of this namespace
  kubectl fdb operations list

  # List the operation on one cluster
  kubectl fdb operations list sample-cluster

  # List the operations of all namespaces continuously
  kubectl fdb operations list -A -w`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, inspect.OperationListView{})
	o.AddWatch(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the operations of all namespaces")
	return cmd
}

func (o listOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	of, err := o.scope(ctx, env, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.list(ctx, env, of) })
}

// scope returns the cluster that is named, or the namespace of all.
func (o listOptions) scope(ctx context.Context, env *session.Env, args []string) (types.NamespacedName, error) {
	named := len(args) > 0 || o.Name != ""
	switch {
	case named && o.all:
		return types.NamespacedName{}, exit.Usagef("-A conflicts with a cluster name")
	case named:
		cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
		if err != nil {
			return types.NamespacedName{}, err
		}
		return types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, nil
	}
	namespace, err := env.Connection().NamespaceUnless(o.all)
	return types.NamespacedName{Namespace: namespace}, err
}

// list reads the Lease of the cluster, or of each of a namespace. One that cannot be read is shown as unknown.
func (o listOptions) list(ctx context.Context, env *session.Env, of types.NamespacedName) (cmdutil.Output, error) {
	read := func(key types.NamespacedName, cluster *session.Cluster) inspect.OperationItem {
		lease := session.ClusterReader{Env: env, Key: key}.Lease(ctx).Of(cluster.UID)
		return inspect.OperationItem{Namespace: key.Namespace, Cluster: key.Name, Read: lease.Read, Operation: lease.View()}
	}
	where, all, err := "on cluster "+of.Name, []inspect.OperationItem{}, error(nil)
	if of.Name != "" {
		cluster, readErr := readCluster(ctx, env, of)
		if readErr != nil {
			return cmdutil.Output{}, readErr
		}
		all = append(all, read(of, cluster))
	} else {
		where = session.InNamespace(of.Namespace)
		all, err = cmdutil.OfEach(ctx, env, of.Namespace, read)
	}
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := inspect.OperationListView{Document: inspect.NewDocument("OperationList", env.Metadata(of), env.Clock.Now(), inspect.SourceLive), Items: []inspect.OperationItem{}}
	r := cmdutil.Output{}
	for _, i := range all {
		if !i.Read {
			v.Warnings = append(v.Warnings, "cannot read the Lease of "+i.Namespace+"/"+i.Cluster)
		}
		if !i.Read || i.Operation != nil {
			v.Items, r.Names = append(v.Items, i), append(r.Names, "operation/"+i.Cluster)
		}
	}
	r.Printable, r.Warnings = o.Listed(env, v, r.Names), v.Warnings
	if len(v.Items) == 0 {
		r.None = "no operation " + where
	}
	return r, nil
}

// followOptions are the options of `kubectl fdb operations follow`.
type followOptions struct{ cmdutil.ViewOptions }

func newFollow(env *session.Env) *cobra.Command {
	var o followOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Waits: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(cmdutil.ReadingLease(), cmdutil.TheResource()), cmdutil.Finding())
		},
	}, &cobra.Command{
		Use:   "follow [CLUSTER]",
		Short: "Follow an operation of any user until it ends",
		Long: `Follow the operation on a cluster until it ends: what it has done and what it waits for,
as its run reports it, at least once a minute.

The exit code does not report whether the operation succeeded: 0 when it has ended or there
is none, 8 when its run no longer reports.`,
		Example: `  # Follow what another user does
  kubectl fdb operations follow sample-cluster

  # Wait for it in a pipeline, for at most an hour
  kubectl fdb operations follow sample-cluster --timeout 1h -o json`,
	})
	cmd.ValidArgsFunction = complete.From(env).FirstArgument
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Wait = true
		followed := following{env: env}
		defer env.Footer.Show()
		return o.Display(cmd.Context(), env, args, followed.view)
	}
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	o.Interval = cmdutil.PollInterval
	o.AddTimeout(cmd)
	return cmd
}

// following is one operation, from the first read to its end.
type following struct {
	env  *session.Env
	last *inspect.OperationView
	// uid is the UID of its cluster.
	uid types.UID
}

// view reads whether the operation goes on.
func (f *following) view(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
	if f.uid == "" {
		cluster, err := readCluster(ctx, f.env, key)
		if err != nil {
			return cmdutil.Output{}, err
		}
		f.uid = cluster.UID
	}
	lease := session.ClusterReader{Env: f.env, Key: key}.Lease(ctx).Of(f.uid)
	if !lease.Read {
		return cmdutil.Output{}, unreadable(key)
	}
	now := lease.View()
	began := f.last == nil && now != nil
	ended := now == nil || f.last != nil && f.last.ID != now.ID
	if !ended {
		f.last = now
	}
	if began && now.Active {
		f.env.Logf("%s", now.Text())
	}
	v := inspect.OperationStatusView{Document: inspect.NewDocument("OperationStatus", f.env.Metadata(key), f.env.Clock.Now(), inspect.SourceLive), Ended: ended, Operation: f.last}
	r := cmdutil.Output{Printable: format.Printable{
		Document: v, Names: session.NamesOf("operation", []string{key.Name}, func(name string) string { return name }),
		Table: func(w io.Writer) error { return ui.WriteOperationStatus(w, v) },
	}}
	switch {
	case ended:
	case !now.Active:
		r.Code, r.Over = exit.ExitUnreachable, true
	default:
		at := f.env.Clock.Now()
		r.Code, r.Reason, r.Key = exit.ExitWaiting, ui.OperationWords(*now, at), now.Key()
		f.show(*now, at)
	}
	return r, nil
}

// show shows the operation at the bottom of a terminal.
func (f *following) show(v inspect.OperationView, at time.Time) {
	var lines []string
	for _, line := range ui.OperationLines(v.Progress, at, f.env.Footer.Width()) {
		lines = append(lines, ui.Joined(line))
	}
	f.env.Footer.Show(lines...)
}

// readCluster reads the cluster of an operation.
func readCluster(ctx context.Context, env *session.Env, key types.NamespacedName) (*session.Cluster, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	return env.Read(ctx, c, key)
}

// unreadable is the error of a command that needs the Lease of a cluster.
func unreadable(key types.NamespacedName) error {
	return &exit.Error{Code: exit.ExitUnreachable, Err: errors.New("cannot read the Lease of " + key.Name), Hints: []string{"kubectl fdb auth can-i operations follow"}}
}
