package commands

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
)

// output is the result of one read: the document and the exit code.
type output struct {
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
type viewFunc func(context.Context) (output, error)

// pollInterval is the interval between two reads of a cluster.
const pollInterval = 5 * time.Second

// pollOptions select how often a command reads: once, continuously, or until the answer is yes.
type pollOptions struct {
	watch    bool
	wait     bool
	timeout  time.Duration
	interval time.Duration
	// warned are the warnings that were printed. They are not repeated with every read.
	warned map[string]bool
}

// addWatch adds the flag of commands that can poll continuously.
func (r *pollOptions) addWatch(cmd *cobra.Command) {
	r.interval = pollInterval
	cmd.Flags().BoolVarP(&r.watch, "watch", "w", false, "If true, repeat the output continuously")
}

// addWait adds the flags of commands that can wait for a condition.
func (r *pollOptions) addWait(cmd *cobra.Command, until string) {
	cmd.Flags().BoolVar(&r.wait, "wait", false, "If true, wait until "+until+" before printing the result")
	r.addTimeout(cmd)
}

func (r *pollOptions) addTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&r.timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
}

func (r pollOptions) check() error {
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
func (r pollOptions) run(ctx context.Context, env *Env, o outputFlags, read viewFunc) error {
	r.warned = map[string]bool{}
	if r.watch {
		return env.watch(ctx, r.interval, func(ctx context.Context) error {
			seen, err := read(ctx)
			if err != nil {
				return err
			}
			seen.stream = true
			return r.print(env, o, seen)
		})
	}
	return r.once(ctx, env, o, read)
}

// once reads once, or with --wait until the answer is yes.
func (r pollOptions) once(ctx context.Context, env *Env, o outputFlags, read viewFunc) error {
	said := ""
	for {
		seen, err := read(ctx)
		if err != nil {
			return r.ended(ctx, err, said)
		}
		if !r.wait || seen.code == ExitDone || seen.over {
			return r.end(env, o, seen)
		}
		if seen.reason != said {
			env.logf("waiting: %s", seen.reason)
			said = seen.reason
		}
		if err := env.pause(ctx, r.interval, seen.reason); err != nil {
			return r.ended(ctx, err, said)
		}
	}
}

func (r pollOptions) end(env *Env, o outputFlags, seen output) error {
	if err := r.print(env, o, seen); err != nil {
		return err
	}
	if seen.code != ExitDone {
		return answer{seen.code}
	}
	return nil
}

func (r pollOptions) print(env *Env, o outputFlags, seen output) error {
	for _, warning := range seen.warnings {
		if !r.warned[warning] {
			env.logf("warning: %s", warning)
		}
		r.warned[warning] = true
	}
	if seen.none != "" && o.isTable() {
		env.logf("%s", seen.none)
		return nil
	}
	return o.print(env.Out, seen.printable)
}

// ended handles a wait that was interrupted.
func (r pollOptions) ended(ctx context.Context, err error, said string) error {
	cause := causeOf(ctx, err)
	if errors.Is(cause, errTimeout) && said != "" {
		return &failure{code: ExitWaiting, err: errors.New(errTimeout.Error() + " after " + r.timeout.String() + ": " + said)}
	}
	return cause
}

// viewOptions are the options of every command that shows parts of one cluster.
type viewOptions struct {
	clusterFlag
	outputFlags
	pollOptions
}

// add adds the flags, and the argument CLUSTER.
func (o *viewOptions) add(cmd *cobra.Command, env *Env) {
	cmd.ValidArgsFunction = env.firstArgument
	if cmd.Args == nil {
		cmd.Args = cobra.MaximumNArgs(1)
	}
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	o.addWatch(cmd)
}

// display finds the cluster and prints what read returns.
func (o viewOptions) display(ctx context.Context, env *Env, args []string, read func(context.Context, types.NamespacedName) (output, error)) error {
	if err := errors.Join(o.outputFlags.check(), o.pollOptions.check()); err != nil {
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
	return o.run(ctx, env, o.outputFlags, func(ctx context.Context) (output, error) { return read(ctx, key) })
}

// namesOf returns the rows for -o name: KIND/NAME.
func namesOf[T any](kind string, items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = kind + "/" + name(item)
	}
	return names
}
