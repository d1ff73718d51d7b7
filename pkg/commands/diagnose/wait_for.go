package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
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
	cmd := session.Declare(session.Declaration{
		Effect: session.EffectReads, Group: session.Automation, Pages: []string{"scripting.md#wait-for-a-state"}, Waits: true,
		Needs: func() []session.Requirement {
			return slices.Concat(cmdutil.Required(session.ViewPermissions()...), cmdutil.WatchingLocks(), cmdutil.Finding(), cmdutil.Beyond())
		},
	}, &cobra.Command{
		Use:   "wait [CLUSTER] --for=CONDITION",
		Short: "Wait until conditions are met",
		Long: `Wait until all conditions are met in the same observation, for the duration of --stable.
Every observation queries the database; an unknown value does not meet a condition.

` + conditionsHelp() + `
Exit code 0: all conditions are met. 2: invalid condition. 3: timeout.`,
		Example: `  # Wait until data is fully replicated and nothing is excluded, for a minute
  kubectl fdb wait sample-cluster --for=fully-replicated,exclusions=none --stable 1m --timeout 2h

  # Wait until a process group is removed
  kubectl fdb wait sample-cluster --for=pg=storage-30317:removed --timeout 2h`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.Completion().FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.ClusterFlag.Add(cmd, env)
	o.Flags.Add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&o.conditions, "for", nil, "comma-separated conditions to wait for; can be repeated")
	flags.DurationVar(&o.stable, "stable", 0, "duration for which all conditions must be met; 0 means a single observation")
	flags.DurationVar(&o.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	flags.DurationVar(&o.interval, "interval", cmdutil.PollInterval, "interval between observations, at least 1s")
	session.AtLeast(cmd, "interval", shortestInterval)
	session.CompleteWith(cmd, "for", func(ctx context.Context, cmd *cobra.Command, args []string) []string {
		return waitCandidates(ctx, env, cmd, args)
	})
	return cmd
}

func (o waitOptions) check() error {
	switch {
	case len(o.conditions) == 0:
		return exit.Usagef("--for is required: one or more of %s", conditionNames())
	case o.timeout > 0 && o.stable >= o.timeout:
		return exit.Usagef("--stable %s must not exceed --timeout %s", o.stable, o.timeout)
	default:
		return o.Check()
	}
}

func (o waitOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	conditions, err := parseConditions(o.conditions)
	if err != nil {
		return err
	}
	ctx, stop := session.WithTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := possible(o.conditions, cluster); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.About = key
	if err := session.MayDo(ctx, env, key.Namespace, o.needs()); err != nil {
		return exit.CauseOf(ctx, err)
	}
	wait := &waiting.Wait{Conditions: conditions, Stable: o.stable}
	return o.end(ctx, env, wait, o.await(ctx, env, wait, key))
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
func (o waitOptions) await(ctx context.Context, env *session.Env, wait *waiting.Wait, key types.NamespacedName) error {
	printed := ""
	for {
		if err := o.read(ctx, env, wait, key); err != nil {
			return err
		}
		if wait.View().Met {
			return nil
		}
		if reason := wait.Reason(); reason != printed {
			env.Logf("waiting: %s", reason)
			printed = reason
		}
		rest := o.interval
		if left := wait.Left(); left > 0 {
			rest = min(rest, left)
		}
		if err := env.Waiting().Pause(ctx, rest, printed); err != nil {
			return err
		}
	}
}

// read reads once. An error for lack of an answer only ends the first read: a wait of hours
// outlasts a restart of the API server.
func (o waitOptions) read(ctx context.Context, env *session.Env, wait *waiting.Wait, key types.NamespacedName) error {
	first := len(wait.View().Conditions) == 0
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	switch {
	case err == nil && facts.Cluster.UID != session.FirstRead(env, key):
		return &exit.Error{Code: exit.ExitConflict, Err: fmt.Errorf("FoundationDBCluster %s was deleted and recreated under the same name during the wait", key.Name)}
	case err == nil:
		wait.Evaluate(env.Metadata(key), facts)
		return nil
	case ctx.Err() == nil && !first && exit.Code(err) == exit.ExitUnreachable:
		wait.Miss(env.Metadata(key), env.Clock.Now(), exit.Explain(err))
		return nil
	default:
		return err
	}
}

// end prints the last progress, unless nothing was read.
func (o waitOptions) end(ctx context.Context, env *session.Env, wait *waiting.Wait, err error) error {
	err = exit.CauseOf(ctx, err)
	v := wait.View()
	if len(v.Conditions) == 0 {
		return err
	}
	if printErr := o.Print(env.Out, format.Printable{
		Document: v, Names: []string{"foundationdbcluster/" + v.Metadata.Cluster},
		Table: func(w io.Writer) error { return ui.WriteWait(w, v, o.List(env)) },
	}); printErr != nil {
		return printErr
	}
	if errors.Is(err, exit.ErrTimeout) {
		return &exit.Error{Code: exit.ExitWaiting, Err: fmt.Errorf("%w after %s: %s", exit.ErrTimeout, o.timeout, wait.Reason())}
	}
	return err
}
