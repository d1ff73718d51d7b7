package commands

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
)

// output is the result of one read: the document and the exit code.
type looked struct {
	printable
	// warnings qualify the document and are printed before it.
	warnings []string
	// none is printed instead of an empty table.
	none string
	code int
	// reason is what --wait waits for.
	reason string
	// over is true if waiting cannot improve the answer.
	over bool
}

// viewFunc reads the cluster state once.
type look func(context.Context) (looked, error)

// lookInterval is the interval between two reads of a cluster.
const lookInterval = 5 * time.Second

// pollOptions select how often a command reads: once, continuously, or until the answer is yes.
type repetition struct {
	watch    bool
	wait     bool
	timeout  time.Duration
	interval time.Duration
	// warned are the warnings that were printed. They are not repeated with every read.
	said map[string]bool
}

// addWatch adds the flag of commands that can poll continuously.
func (r *repetition) addWatch(cmd *cobra.Command) {
	r.interval = lookInterval
	cmd.Flags().BoolVarP(&r.watch, "watch", "w", false, "If true, repeat the output continuously")
}

// addWait adds the flags of commands that can wait for a condition.
func (r *repetition) addWait(cmd *cobra.Command, until string) {
	cmd.Flags().BoolVar(&r.wait, "wait", false, "If true, wait until "+until+" before printing the result")
	r.addTimeout(cmd)
}

func (r *repetition) addTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&r.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
}

func (r repetition) check() error {
	switch {
	case r.timeout < 0:
		return usagef("--timeout must not be negative")
	case r.watch && r.wait:
		return usagef("--watch conflicts with --wait")
	default:
		return nil
	}
}

// run reads as often as requested, and prints.
func (r repetition) run(ctx context.Context, env *Env, o outputFlags, see look) error {
	r.said = map[string]bool{}
	if r.watch {
		return env.watch(ctx, r.interval, func(ctx context.Context) error {
			seen, err := see(ctx)
			if err != nil {
				return err
			}
			seen.stream = true
			return r.print(env, o, seen)
		})
	}
	return r.once(ctx, env, o, see)
}

// once reads once, or with --wait until the answer is yes.
func (r repetition) once(ctx context.Context, env *Env, o outputFlags, see look) error {
	said := ""
	for {
		seen, err := see(ctx)
		if err != nil {
			return r.ended(ctx, err, said)
		}
		if !r.wait || seen.code == ExitDone || seen.over {
			return r.end(env, o, seen)
		}
		if seen.reason != said {
			env.talk("waiting: %s", seen.reason)
			said = seen.reason
		}
		if err := env.pause(ctx, r.interval, seen.reason); err != nil {
			return r.ended(ctx, err, said)
		}
	}
}

func (r repetition) end(env *Env, o outputFlags, seen looked) error {
	if err := r.print(env, o, seen); err != nil {
		return err
	}
	if seen.code != ExitDone {
		return answer{seen.code}
	}
	return nil
}

func (r repetition) print(env *Env, o outputFlags, seen looked) error {
	for _, warning := range seen.warnings {
		if !r.said[warning] {
			env.talk("warning: %s", warning)
		}
		r.said[warning] = true
	}
	if seen.none != "" && o.isTable() {
		env.talk("%s", seen.none)
		return nil
	}
	return o.print(env.Out, seen.printable)
}

// ended handles a wait that was interrupted.
func (r repetition) ended(ctx context.Context, err error, said string) error {
	cause := causeOf(ctx, err)
	if errors.Is(cause, errTimeout) && said != "" {
		return &failure{code: ExitWaiting, err: errors.New(errTimeout.Error() + " after " + r.timeout.String() + ": " + said)}
	}
	return cause
}

// viewOptions are the options of every command that shows parts of one cluster.
type lookOptions struct {
	clusterFlag
	outputFlags
	repetition
}

// add adds the flags, and the argument CLUSTER.
func (o *lookOptions) add(cmd *cobra.Command, env *Env) {
	cmd.ValidArgsFunction = env.firstArgument
	if cmd.Args == nil {
		cmd.Args = cobra.MaximumNArgs(1)
	}
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	o.addWatch(cmd)
}

// display finds the cluster and prints what read returns.
func (o lookOptions) look(ctx context.Context, env *Env, args []string, see func(context.Context, types.NamespacedName) (looked, error)) error {
	if err := errors.Join(o.outputFlags.check(), o.repetition.check()); err != nil {
		return err
	}
	ctx, stop := withTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	record, err := env.cluster(ctx, args, o.name, reads)
	if err != nil {
		return causeOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.about = key
	return o.run(ctx, env, o.outputFlags, func(ctx context.Context) (looked, error) { return see(ctx, key) })
}

// namesOf returns the rows for -o name: KIND/NAME.
func namesOf[T any](kind string, items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = kind + "/" + name(item)
	}
	return names
}
