package cmdutil

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// Output is the result of one read: the document and the exit code.
type Output struct {
	format.Printable
	// Warnings qualify the document and are printed before it.
	Warnings []string
	// None is printed instead of an empty table.
	None string
	Code int
	// Reason is what --wait waits for.
	Reason string
	// Key identifies the reason where its text has durations; empty means the text.
	Key string
	// Over is true if waiting cannot improve the answer.
	Over bool
}

// ViewFunc reads the cluster state once.
type ViewFunc func(context.Context) (Output, error)

// PollInterval is the interval between two reads of a cluster.
const PollInterval = 5 * time.Second

// PollOptions select how often a command reads: once, continuously, or until the answer is yes.
type PollOptions struct {
	Watch    bool
	Wait     bool
	Timeout  time.Duration
	Interval time.Duration
	// warned are the warnings that were printed. They are not repeated with every read.
	warned map[string]bool
}

// AddWatch adds the flag of commands that can poll continuously.
func (r *PollOptions) AddWatch(cmd *cobra.Command) {
	r.Interval = PollInterval
	cmd.Flags().BoolVarP(&r.Watch, "watch", "w", false, "If true, repeat the output continuously")
}

// AddWait adds the flags of commands that can wait for a condition.
func (r *PollOptions) AddWait(cmd *cobra.Command, until string) {
	cmd.Flags().BoolVar(&r.Wait, "wait", false, "If true, wait until "+until+" before printing the result")
	r.AddTimeout(cmd)
}

func (r *PollOptions) AddTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&r.Timeout, "timeout", 0, "maximum time to wait (exit code 3); 0 means no limit")
}

func (r PollOptions) Check() error {
	if r.Watch && r.Wait {
		return exit.Usagef("--watch conflicts with --wait")
	}
	return nil
}

// Run reads as often as requested, and prints.
func (r PollOptions) Run(ctx context.Context, env *session.Env, o format.Flags, read ViewFunc) error {
	r.warned = map[string]bool{}
	if r.Watch {
		return env.Waiting().Watch(ctx, r.Interval, func(ctx context.Context) error {
			seen, err := read(ctx)
			if err != nil {
				return err
			}
			seen.Stream = true
			return r.print(env, o, seen)
		})
	}
	return r.once(ctx, env, o, read)
}

// once reads once, or with --wait until the answer is yes.
func (r PollOptions) once(ctx context.Context, env *session.Env, o format.Flags, read ViewFunc) error {
	lastReason, lastKey := "", ""
	for {
		seen, err := read(ctx)
		if err != nil {
			return r.ended(ctx, err, lastReason)
		}
		if !r.Wait || seen.Code == exit.ExitDone || seen.Over {
			return r.end(env, o, seen)
		}
		if key := cmp.Or(seen.Key, seen.Reason); key != lastKey {
			env.Logf("waiting: %s", seen.Reason)
			lastKey = key
		}
		lastReason = seen.Reason
		if err := env.Waiting().Pause(ctx, r.Interval, seen.Reason); err != nil {
			return r.ended(ctx, err, lastReason)
		}
	}
}

func (r PollOptions) end(env *session.Env, o format.Flags, seen Output) error {
	if err := r.print(env, o, seen); err != nil {
		return err
	}
	if seen.Code != exit.ExitDone {
		return exit.AnswerError{Code: seen.Code}
	}
	return nil
}

func (r PollOptions) print(env *session.Env, o format.Flags, seen Output) error {
	for _, warning := range seen.Warnings {
		if !r.warned[warning] {
			env.Logf("warning: %s", warning)
		}
		r.warned[warning] = true
	}
	if seen.None != "" && o.IsTable() {
		env.Logf("%s", seen.None)
		return nil
	}
	return o.Print(env.Out, seen.Printable)
}

// ended handles a wait that was interrupted.
func (r PollOptions) ended(ctx context.Context, err error, lastReason string) error {
	cause := exit.CauseOf(ctx, err)
	if errors.Is(cause, exit.ErrTimeout) && lastReason != "" {
		return &exit.Error{Code: exit.ExitWaiting, Err: errors.New(exit.ErrTimeout.Error() + " after " + r.Timeout.String() + ": " + lastReason)}
	}
	return cause
}

// ViewOptions are the options of every command that shows parts of one cluster.
type ViewOptions struct {
	session.ClusterFlag
	format.Flags
	PollOptions
}

// Add adds the flags, and the argument CLUSTER.
func (o *ViewOptions) Add(cmd *cobra.Command, env *session.Env) {
	cmd.ValidArgsFunction = complete.From(env).FirstArgument
	if cmd.Args == nil {
		cmd.Args = cobra.MaximumNArgs(1)
	}
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	o.AddWatch(cmd)
}

// View reads what a command shows of a cluster.
type View func(ctx context.Context, env *session.Env, key types.NamespacedName) (Output, error)

// AddView adds the flags, and has the command print the view of the cluster that its arguments
// name. The view runs after the flags are parsed: its receiver must be a pointer.
func (o *ViewOptions) AddView(cmd *cobra.Command, env *session.Env, view View) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.Display(cmd.Context(), env, args, func(ctx context.Context, key types.NamespacedName) (Output, error) {
			return view(ctx, env, key)
		})
	}
	o.Add(cmd, env)
}

// Display finds the cluster and prints what read returns.
func (o ViewOptions) Display(ctx context.Context, env *session.Env, args []string, read func(context.Context, types.NamespacedName) (Output, error)) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	ctx, stop := session.WithTimeout(ctx, env.Clock, o.Timeout)
	defer stop()
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (Output, error) { return read(ctx, key) })
}
