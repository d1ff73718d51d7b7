package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// shortestInterval is the minimum interval between reads of a cluster.
const shortestInterval = time.Second

// waitOptions are the options of `kubectl fdb wait`.
type waitOptions struct {
	session.ClusterFlag
	format.Flags
	conditions []string
	stable     time.Duration
	timeout    time.Duration
	interval   time.Duration
}

// NewWait returns the command `wait`.
func NewWait(env *session.Env) *cobra.Command {
	var o waitOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Automation, Pages: []string{"plan.md#wait-for-a-state"}, Waits: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(session.ViewPermissions()...), cmdutil.WatchingLocks(), cmdutil.Finding(), cmdutil.Beyond())
		},
		With: map[string]func() []declare.Requirement{
			"fdbbackup":  func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbbackups") },
			"fdbrestore": func() []declare.Requirement { return cmdutil.ViewingBackups("foundationdbrestores") },
		},
	}, &cobra.Command{
		Use:   "wait [CLUSTER | fdbbackup/NAME | fdbrestore/NAME] --for=CONDITION",
		Short: "Wait until conditions are met",
		Long: `Wait until all conditions are met in the same observation, for the duration of --stable.
Every observation queries the database; an unknown value does not meet a condition.

` + conditionsHelp() + `
Exit code 0: all conditions are met. 1: they will never be, as after the abort of a
restore. 2: invalid condition. 3: timeout.`,
		Example: `  # Wait until data is fully replicated and nothing is excluded, for a minute
  kubectl fdb wait sample-cluster --for=fully-replicated,exclusions=none --stable 1m --timeout 2h

  # Wait until a process group is removed
  kubectl fdb wait sample-cluster --for=pg=storage-30317:removed --timeout 2h

  # Wait until all excluded processes are safe to remove
  kubectl fdb wait sample-cluster --for=exclusions=safe --timeout 2h

  # Wait until a restore is done
  kubectl fdb wait fdbrestore/sample-restore --for=done --timeout 2h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	cmd.Flags().StringSliceVar(&o.conditions, "for", nil, "comma-separated conditions to wait for; can be repeated")
	cmd.Flags().DurationVar(&o.stable, "stable", 0, "duration for which all conditions must be met; 0 means a single observation")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	cmd.Flags().DurationVar(&o.interval, "interval", cmdutil.PollInterval, "interval between observations, at least 1s")
	flags.AtLeast(cmd, "interval", shortestInterval)
	complete.FlagWith(cmd, "for", func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		return waitCandidates(ctx, env, cmd, args)
	})
	return cmd
}

func (o waitOptions) check(kind *session.ResourceKind) error {
	switch {
	case len(o.conditions) == 0:
		return exit.Usagef("--for is required: one or more of %s", conditionNames(kind))
	case o.timeout > 0 && o.stable >= o.timeout:
		return exit.Usagef("--stable %s must not exceed --timeout %s", o.stable, o.timeout)
	default:
		return o.Check()
	}
}

func (o waitOptions) run(ctx context.Context, env *session.Env, args []string) error {
	kind, _ := session.ResourceKindOf(args)
	if err := o.check(kind); err != nil {
		return err
	}
	conditions, err := parseConditions(kind, o.conditions)
	if err != nil {
		return err
	}
	ctx, stop := session.WithTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	wait := &waiting.Wait{Conditions: conditions, Stable: o.stable}
	find := o.cluster
	if kind != nil {
		find = o.resource
	}
	read, err := find(ctx, env, wait, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	again := session.RereadCluster(env, env.Run.About)
	defer again.End()
	return o.end(ctx, env, wait, o.await(ctx, env, again, wait, read))
}

// reading reads what is waited for once.
type reading func(context.Context) error

// cluster finds the cluster. The conditions must be possible there, and permitted to be read.
func (o waitOptions) cluster(ctx context.Context, env *session.Env, wait *waiting.Wait, args []string) (reading, error) {
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return nil, err
	}
	if err := o.possible(wait, cluster); err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About, wait.Resource = key, waiting.Resource{Kind: "FoundationDBCluster", Name: key.Name}
	return func(ctx context.Context) error {
		facts, err := clusterFacts(ctx, env, wait, key)
		switch {
		case err != nil:
			return err
		case facts.Cluster.UID != session.FirstRead(env, key):
			return recreated("FoundationDBCluster", key)
		}
		wait.Evaluate(env.Metadata(key), facts)
		return nil
	}, session.MayDo(ctx, env, key.Namespace, o.needs())
}

func clusterFacts(ctx context.Context, env *session.Env, wait *waiting.Wait, key types.NamespacedName) (inspect.Facts, error) {
	reader := session.ClusterReader{Env: env, Key: key}
	if wait.NeedsExclusions() {
		return cmdutil.ExclusionFacts(ctx, reader)
	}
	return reader.Facts(ctx)
}

// resource finds the backup or restore.
func (o waitOptions) resource(ctx context.Context, env *session.Env, wait *waiting.Wait, args []string) (reading, error) {
	kind, name := session.ResourceKindOf(args)
	if o.Name != "" {
		return nil, exit.Usagef("%s/%s conflicts with cluster %s", kind.Short, name, o.Name)
	}
	key, err := kind.Key(ctx, env, args, session.Reads)
	if err != nil {
		return nil, err
	}
	env.Run.About, wait.Resource = kind.Named(key), waiting.Resource{Kind: kind.Kind, Name: key.Name}
	first, history := types.UID(""), &inspect.RestoreHistory{}
	return func(ctx context.Context) error {
		seen, err := readResource(ctx, env, kind, key, history)
		if err != nil {
			return err
		}
		uid, progress := progressOf(env, seen)
		if first = cmp.Or(first, uid); uid != first {
			return recreated(kind.Kind, key)
		}
		wait.Report(env.Metadata(env.Run.About), env.Clock.Now(), progress)
		return nil
	}, nil
}

// recreated is the error of a wait whose resource is another one of the same name now.
func recreated(kind string, key types.NamespacedName) error {
	return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("%s %s was deleted and recreated under the same name during the wait", kind, key.Name)}
}

// progressOf returns the UID of a backup or restore that was read alone, and how far it is.
func progressOf(env *session.Env, seen inspect.ClusterBackups) (types.UID, waiting.Progress) {
	if len(seen.Backups) > 0 {
		b := seen.Backups[0]
		return b.Resource.UID, waiting.Progress{Met: b.View.Reconciled, Reason: b.View.Summary}
	}
	r := seen.Restores[0]
	p := waiting.Progress{Met: r.View.Done, Reason: r.View.Summary, Over: r.View.Over}
	if state := r.View.State; state != nil && *state == "" && !p.Over { // it was never started
		p.Reason += "; start it: " + env.Command("reconcile", "fdbrestore/"+r.View.Name, "--wait")
	}
	return r.Resource.UID, p
}

// needs returns the permissions that the conditions require: without one of them they can never
// be determined.
func (o waitOptions) needs() []session.Permission {
	if slices.Contains(o.conditions, "lock-free") {
		return append(session.ViewPermissions(), session.Permission{Verb: "get", Group: "coordination.k8s.io", Resource: "leases"})
	}
	return session.ViewPermissions()
}

// await reads until all conditions are met. It prints the reason whenever that changes.
func (o waitOptions) await(ctx context.Context, env *session.Env, again *session.Reread, wait *waiting.Wait, read reading) error {
	for printed := ""; ; {
		if err := observe(ctx, env, wait, read); err != nil || wait.View().Met {
			return err
		}
		if wait.Over() {
			return exit.AnswerError{Code: exit.ExitNo}
		}
		if reason := wait.Reason(); reason != printed {
			env.Logf("waiting: %s", reason)
			printed = reason
		}
		rest := o.interval
		if left := wait.Left(); left > 0 {
			rest = min(rest, left)
		}
		if err := env.Waiting().PauseUntil(ctx, again.Until(rest), printed); err != nil {
			return err
		}
	}
}

// observe reads once. An error for lack of an answer only ends the first read: a wait of hours
// outlasts a restart of the API server.
func observe(ctx context.Context, env *session.Env, wait *waiting.Wait, read reading) error {
	err := read(ctx)
	if first := len(wait.View().Conditions) == 0; first || ctx.Err() != nil || exit.Code(err) != exit.ExitUnreachable {
		return err
	}
	wait.Miss(env.Metadata(env.Run.About), env.Clock.Now(), exit.Explain(err))
	return nil
}

// end prints the last progress, unless nothing was read.
func (o waitOptions) end(ctx context.Context, env *session.Env, wait *waiting.Wait, err error) error {
	err = exit.CauseOf(ctx, err)
	v := wait.View()
	if len(v.Conditions) == 0 {
		return err
	}
	if printErr := o.Print(env.Out, format.Printable{
		Document: v, Names: []string{strings.ToLower(v.Resource.Kind) + "/" + v.Resource.Name},
		Table: func(w io.Writer) error { return ui.WriteWait(w, v, o.List(env, w)) },
	}); printErr != nil {
		return printErr
	}
	if errors.Is(err, exit.ErrTimeout) {
		return &exit.Error{Code: exit.ExitWaiting, Err: fmt.Errorf("%w after %s: %s", exit.ErrTimeout, o.timeout, wait.Reason())}
	}
	return err
}
