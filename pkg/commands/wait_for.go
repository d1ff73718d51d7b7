package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// shortestInterval is the minimum interval between reads of a cluster.
const shortestInterval = time.Second

// waitOptions are the options of `kubectl fdb wait`.
type waitOptions struct {
	clusterFlag
	outputFlags
	conditions []string
	stable     time.Duration
	timeout    time.Duration
	interval   time.Duration
}

func newWait(env *Env) *cobra.Command {
	var o waitOptions
	cmd := &cobra.Command{
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
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&o.conditions, "for", nil, "comma-separated conditions to wait for; can be repeated")
	flags.DurationVar(&o.stable, "stable", 0, "duration for which all conditions must be met; 0 means a single observation")
	flags.DurationVar(&o.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
	flags.DurationVar(&o.interval, "interval", pollInterval, "interval between observations, at least 1s")
	completeWith(cmd, "for", env.waitCandidates)
	return cmd
}

func (o waitOptions) check() error {
	switch {
	case len(o.conditions) == 0:
		return usagef("--for is required: one or more of %s", conditionNames())
	case o.stable < 0, o.timeout < 0:
		return usagef("--stable and --timeout must not be negative")
	case o.interval < shortestInterval:
		return usagef("--interval must be at least %s", shortestInterval)
	case o.timeout > 0 && o.stable >= o.timeout:
		return usagef("--stable %s must not exceed --timeout %s", o.stable, o.timeout)
	default:
		return o.outputFlags.check()
	}
}

func (o waitOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	conditions, err := parseConditions(o.conditions)
	if err != nil {
		return err
	}
	ctx, stop := withTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	record, err := env.cluster(ctx, args, o.name, reads)
	if err != nil {
		return causeOf(ctx, err)
	}
	if err := possible(o.conditions, record); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.about = key
	if err := env.mayDo(ctx, key.Namespace, o.needs()); err != nil {
		return causeOf(ctx, err)
	}
	wait := &waiting.Wait{Conditions: conditions, Stable: o.stable}
	return o.end(ctx, env, wait, o.await(ctx, env, wait, key))
}

// needs returns the permissions that the conditions require: without one of them they can never
// be determined.
func (o waitOptions) needs() []permission {
	if slices.Contains(o.conditions, "lock-free") {
		return append(viewPermissions(), permission{"get", "coordination.k8s.io", "leases", ""})
	}
	return viewPermissions()
}

// await reads until all conditions are met. It prints the reason whenever that changes.
func (o waitOptions) await(ctx context.Context, env *Env, wait *waiting.Wait, key types.NamespacedName) error {
	printed := ""
	for {
		if err := o.read(ctx, env, wait, key); err != nil {
			return err
		}
		if wait.View().Met {
			return nil
		}
		if reason := wait.Reason(); reason != printed {
			env.logf("waiting: %s", reason)
			printed = reason
		}
		rest := o.interval
		if left := wait.Left(); left > 0 {
			rest = min(rest, left)
		}
		if err := env.pause(ctx, rest, printed); err != nil {
			return err
		}
	}
}

// read reads once. An error for lack of an answer only ends the first read: a wait of hours
// outlasts a restart of the API server.
func (o waitOptions) read(ctx context.Context, env *Env, wait *waiting.Wait, key types.NamespacedName) error {
	first := len(wait.View().Conditions) == 0
	facts, err := clusterReader{env: env, key: key}.facts(ctx)
	switch {
	case err == nil:
		wait.Look(env.metadata(key), facts)
		return nil
	case ctx.Err() == nil && !first && ExitCode(err) == ExitUnreachable:
		wait.Miss(env.metadata(key), env.Clock.Now(), explain(err))
		return nil
	default:
		return err
	}
}

// end prints the last progress, unless nothing was read.
func (o waitOptions) end(ctx context.Context, env *Env, wait *waiting.Wait, err error) error {
	err = causeOf(ctx, err)
	v := wait.View()
	if len(v.Conditions) == 0 {
		return err
	}
	if printErr := o.print(env.Out, printable{
		document: v, names: []string{"foundationdbcluster/" + v.Metadata.Cluster},
		table: func(w io.Writer) error { return ui.WriteWait(w, v, o.list(env)) },
	}); printErr != nil {
		return printErr
	}
	if errors.Is(err, errTimeout) {
		return &failure{code: ExitWaiting, err: fmt.Errorf("%w after %s: %s", errTimeout, o.timeout, wait.Reason())}
	}
	return err
}
