package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// abortTimeout is the default of --timeout: the running action is finished first, and the longest
// takes four minutes.
const abortTimeout = 5 * time.Minute

// abortOptions are the options of `kubectl fdb operations abort`.
type abortOptions struct {
	session.ClusterFlag
	apply.ChangeFlags
	id      string
	timeout time.Duration
}

func newAbort(env *session.Env) *cobra.Command {
	var o abortOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes,
		Lacks: declare.Lacking("it requests that another run ends, as after Ctrl-C, and changes nothing of the cluster",
			declare.Plans, declare.Overrides, declare.GatedByOperators, declare.OneOperation),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(cmdutil.ReadingLease(), session.Permission{Verb: "update", Group: "coordination.k8s.io", Resource: "leases"}, cmdutil.TheResource()), cmdutil.Finding(), cmdutil.Auditing(), readingLeftovers())
		},
	}, &cobra.Command{
		Use:   "abort [CLUSTER]",
		Short: "Abort an operation of any user",
		Long: `Abort the operation on a cluster, of any user and machine. Its run finishes the running
action, releases its locks, and ends with exit code 4; it prints what is not done, and how
to resume or undo it. What was done before is not undone.

The command requests that, and waits until the operation has ended. Then it prints what is
half done on the cluster, whichever run began it, with the commands that complete and revert
it: process groups that are marked for removal or excluded, deleted pods, cordoned nodes,
maintenance and the database lock.

With --dry-run the operation is named and goes on; the exit code is 1.

An operation whose run no longer reports cannot be aborted: it does nothing any more. What
is half done is printed for it, too.`,
		Example: `  # Abort the operation on this cluster
  kubectl fdb operations abort sample-cluster

  # Abort it only if it still is the one that was listed
  kubectl fdb operations abort sample-cluster --id k3v5q2m7aa --yes`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Approval(cmd, &o.ChangeFlags)
	cmd.Flags().StringVar(&o.id, "id", "", "expected ID of the operation, as listed; exit code 6 for another one")
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason, as its run prints it")
	cmd.Flags().DurationVar(&o.timeout, "timeout", abortTimeout, "maximum time to wait for its end (exit code 3); 0 means no limit")
	return cmd
}

func (o abortOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.CheckSteps(env); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, o.Intent())
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	reader := session.ClusterReader{Env: env, Key: key}
	lease := reader.Lease(ctx).Of(cluster.UID)
	operation, err := o.chosen(lease, key)
	if err != nil {
		if lease.Read && lease.Operation != nil && !lease.OperationActive && exit.Code(err) == exit.ExitRefused {
			printLeft(ctx, env, reader)
		}
		return err
	}
	env.Logf("operation %s: %s", operation.ID, operation.Text())
	if o.Intent() == session.Reads {
		return cmp.Or(exit.CauseOf(ctx, o.request(ctx, env, key, operation)), error(exit.AnswerError{Code: exit.ExitNo}))
	}
	if err := apply.CarryOut(ctx, env, key, o.change(env, cluster, operation)); err != nil {
		return err
	}
	env.Logf("requested; waiting until its run has finished the running action")
	return o.wait(ctx, env, reader, operation)
}

// change requests the end of an operation.
func (o abortOptions) change(env *session.Env, cluster *session.Cluster, operation reconcile.Operation) apply.Change {
	key := client.ObjectKeyFromObject(cluster)
	step := reconcile.Step{
		Kind: "RequestAbort", Subject: operation.ID, Words: "request the end of operation " + operation.ID + ": " + operation.Text(),
		Do: func(ctx context.Context) error { return o.request(ctx, env, key, operation) },
	}
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: []string{"operations", "abort", key.Name, "--id", operation.ID},
		Procedure: &apply.Procedure{
			Resource: cluster, Stage: "AbortOperation", Work: 1, Question: "Abort it?", Continue: "request it again",
			Show: func(io.Writer) error { return nil },
			Run: func(ctx context.Context, s apply.Stepping) error {
				return reconcile.Steps{Report: s.Report, Now: env.Clock.Now}.CarryOut(ctx, []reconcile.Step{step})
			},
		},
	}
}

// chosen returns the operation to abort.
func (o abortOptions) chosen(lease inspect.Lease, key types.NamespacedName) (reconcile.Operation, error) {
	if !lease.Read {
		return reconcile.Operation{}, unreadable(key)
	}
	operation := lease.Operation
	switch {
	case operation == nil:
		return reconcile.Operation{}, refused("no operation on " + key.Name)
	case o.id != "" && o.id != operation.ID:
		return reconcile.Operation{}, &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("the operation on %s is %s, not %s: %s", key.Name, phrase.Or(operation.ID, "one without an ID"), o.id, operation.Text()+session.OrMeant(o.id, []string{operation.ID}))}
	case !lease.OperationActive:
		return reconcile.Operation{}, refused("the run of the operation no longer reports: " + operation.Text() + "; last seen at " + operation.Seen.UTC().Format(time.RFC3339))
	case operation.ID == "":
		return reconcile.Operation{}, refused("the run of the operation is of an older release, which cannot be aborted: " + operation.Text())
	default:
		return *operation, nil
	}
}

func refused(words string) error {
	return &exit.Error{Code: exit.ExitRefused, Err: errors.New(words)}
}

// request writes the request to the Lease; a dry run submits it at most.
func (o abortOptions) request(ctx context.Context, env *session.Env, key types.NamespacedName, operation reconcile.Operation) error {
	c, err := env.Client()
	if err != nil {
		return err
	}
	switch {
	case o.DryRun == apply.DryRunServer:
		c = client.NewDryRunClient(c)
	case o.Intent() == session.Reads:
		return nil
	}
	lease := types.NamespacedName{Namespace: key.Namespace, Name: live.LeaseName(key.Name)}
	err = live.RequestAbort(ctx, c, lease, reconcile.OperationAbort{
		ID: operation.ID, By: reconcile.UserOf(env.Holder), Reason: o.Reason, At: env.Clock.Now().UTC(),
	})
	if errors.Is(err, live.ErrOperationEnded) {
		env.Logf("the operation ended before it was aborted")
		return nil
	}
	return err
}

// wait reads the Lease until the operation has ended.
func (o abortOptions) wait(ctx context.Context, env *session.Env, reader session.ClusterReader, operation reconcile.Operation) error {
	ctx, stop := session.WithTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	for {
		lease := reader.Lease(ctx)
		now := lease.Operation
		switch {
		case !lease.Read: // a later read may succeed
		case now == nil || now.ID != operation.ID:
			fmt.Fprintf(env.Out, "operation %s has ended\n", operation.ID)
			printLeft(ctx, env, reader)
			return nil
		case !lease.OperationActive:
			return &exit.Error{Code: exit.ExitUnreachable, Err: fmt.Errorf("the run of operation %s no longer reports: whether it ended is unknown", operation.ID)}
		}
		if err := env.Waiting().Pause(ctx, cmdutil.PollInterval, "operation "+operation.ID+" goes on"); err != nil {
			cause := exit.CauseOf(ctx, err)
			if errors.Is(cause, exit.ErrTimeout) {
				return &exit.Error{Code: exit.ExitWaiting, Err: fmt.Errorf("timed out after %s: operation %s has not ended yet", o.timeout, operation.ID), Hints: []string{env.Command("operations", "follow", reader.Key.Name)}}
			}
			return cause
		}
	}
}

// printLeft prints what is half done on the cluster. A cluster that cannot be read is a warning: the
// operation has ended all the same.
func printLeft(ctx context.Context, env *session.Env, reader session.ClusterReader) {
	reader.Nodes = true
	facts, err := reader.Facts(ctx)
	if err != nil {
		env.Logf("warning: what is half done is unknown: %s; read it later: %s", exit.Explain(err), env.Command("why", reader.Key.Name))
		return
	}
	left := lists.NewLeftovers(facts, env.Commands())
	if err := ui.WriteLeftovers(env.Out, left); err != nil {
		env.Logf("warning: %v", err)
	}
	env.Logf("what is left of the spec: %s", env.Command("why", reader.Key.Name))
}

// readingLeftovers returns what is required, beside the resource and its Lease, to read what is half
// done on a cluster.
func readingLeftovers() []declare.Requirement {
	others := slices.DeleteFunc(session.ViewPermissions(), func(p session.Permission) bool { return p == cmdutil.TheResource() || p == cmdutil.ReadingLease() })
	return slices.Concat(cmdutil.Optional("what is half done is unknown", others...), cmdutil.Beyond())
}
