package commands

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
)

// looked is one look: the document, and what it means for the shell.
type looked struct {
	printable
	// warnings are what the reader has to know before believing the document.
	warnings []string
	// none is said instead of a table without rows.
	none string
	code int
	// reason is what a wait goes on for.
	reason string
	// over is true when no wait makes the answer any better.
	over bool
}

// look looks once.
type look func(context.Context) (looked, error)

// lookInterval is how long to rest between two looks at a cluster.
const lookInterval = 5 * time.Second

// repetition is how often a command looks: once, again and again, or until the answer
// is yes.
type repetition struct {
	watch    bool
	wait     bool
	timeout  time.Duration
	interval time.Duration
	// said are the warnings that were told. They are not repeated with every look.
	said map[string]bool
}

// addWatch adds the flag of commands that can look again and again.
func (r *repetition) addWatch(cmd *cobra.Command) {
	r.interval = lookInterval
	cmd.Flags().BoolVarP(&r.watch, "watch", "w", false, "If true, repeat the output continuously")
}

// addWait adds the flags of commands that can wait for something.
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
		return usagef("--timeout cannot be negative")
	case r.watch && r.wait:
		return usagef("--watch goes on, --wait ends: choose one")
	default:
		return nil
	}
}

// run looks as often as was asked for, and prints.
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

// once looks once, or with --wait until the answer is yes.
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

// ended is for a wait that something cut short.
func (r repetition) ended(ctx context.Context, err error, said string) error {
	cause := causeOf(ctx, err)
	if errors.Is(cause, errTimeout) && said != "" {
		return &failure{code: ExitWaiting, err: errors.New(errTimeout.Error() + " after " + r.timeout.String() + ": " + said)}
	}
	return cause
}

// lookOptions is what every command that shows parts of one cluster was asked.
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

// look finds the cluster and shows what see sees of it.
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

// namesOf are the rows for -o name: KIND/NAME.
func namesOf[T any](kind string, items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = kind + "/" + name(item)
	}
	return names
}
