package cmdutil

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
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

// Run reads as often as requested, and prints. A cluster that is read repeatedly is opened once.
func (r PollOptions) Run(ctx context.Context, env *session.Env, o format.Flags, read ViewFunc) error {
	r.warned = map[string]bool{}
	about := types.NamespacedName{}
	if r.Watch || r.Wait {
		about = env.Run.About
	}
	again := session.RereadCluster(env, about)
	defer again.End()
	if r.Watch {
		return env.Waiting().Watch(ctx, again, r.Interval, func(ctx context.Context) error {
			seen, err := read(ctx)
			if err != nil {
				return err
			}
			seen.Stream = true
			return r.print(env, o, seen)
		})
	}
	return r.once(ctx, env, again, o, read)
}

// once reads once, or with --wait until the answer is yes.
func (r PollOptions) once(ctx context.Context, env *session.Env, again *session.Reread, o format.Flags, read ViewFunc) error {
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
		if err := env.Waiting().PauseUntil(ctx, again.Until(r.Interval), seen.Reason); err != nil {
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
	if none := cmp.Or(seen.None, seen.Printable.None); none != "" && o.IsTable() {
		env.Logf("%s", none)
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

// ResourceViewOptions are the options of commands that show one backup or restore.
type ResourceViewOptions struct {
	format.Flags
	PollOptions
}

func (o *ResourceViewOptions) Add(cmd *cobra.Command, env *session.Env, kind *session.ResourceKind) {
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.ValidArgsFunction = complete.Resource(env, kind)
	flags.Output(cmd, &o.Flags)
	o.Interval = PollInterval
}

// Display finds the resource and prints what read returns.
func (o ResourceViewOptions) Display(ctx context.Context, env *session.Env, kind *session.ResourceKind, args []string, facets plan.Facet, read func(types.NamespacedName, plan.Snapshot) Output) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	key, err := kind.Key(ctx, env, args, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	env.Run.About = kind.Named(key)
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (Output, error) {
		s, err := env.Lookup().ObserveResource(ctx, kind, key, facets)
		if err != nil {
			return Output{}, exit.CauseOf(ctx, err)
		}
		seen := read(key, s)
		seen.Warnings = append(seen.Warnings, s.Clock.Warnings()...)
		return seen, nil
	})
}

// OfEach reads each cluster of a namespace, or of all if it is empty, a few at a time, and
// returns the results in the order of their names. A failure to read one is a result as well,
// and keeps no other from being read.
func OfEach[T any](ctx context.Context, env *session.Env, namespace string, read func(types.NamespacedName, *session.Cluster) T) ([]T, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	clusters, err := session.ClustersIn(ctx, c, namespace)
	if err != nil {
		return nil, exit.CauseOf(ctx, err)
	}
	stable.Sort(clusters, func(a, b session.Cluster) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	seen := make([]T, len(clusters))
	var group errgroup.Group
	group.SetLimit(session.ParallelReads)
	for i := range clusters {
		key := types.NamespacedName{Namespace: clusters[i].Namespace, Name: clusters[i].Name}
		group.Go(func() error {
			seen[i] = read(key, &clusters[i])
			return nil
		})
	}
	_ = group.Wait() // errors are in the results
	if ctx.Err() != nil {
		return nil, exit.CauseOf(ctx, ctx.Err())
	}
	return seen, nil
}

// ExclusionFacts returns what a reader reads of a cluster, with the exclusions in force and in progress even where
// its spec does not need them. If they cannot be read they are unknown, with a warning.
func ExclusionFacts(ctx context.Context, cluster session.ClusterReader) (inspect.Facts, error) {
	return CoordinationFacts(ctx, cluster, "exclusions", func(ctx context.Context, r session.Reader, into *plan.CoordinationFacts) error {
		lists, err := r.ReadExclusions(ctx)
		into.ExclusionsRead, into.Exclusions = lists.ExclusionsRead, lists.Exclusions
		into.FailedExclusions, into.InProgressExclusions = lists.FailedExclusions, lists.InProgressExclusions
		return err
	})
}

// CoordinationFacts returns what a reader reads of a cluster, with what read adds of the state that control-plane
// instances share. What cannot be read is a warning, which names it by what.
func CoordinationFacts(ctx context.Context, cluster session.ClusterReader, what string, read func(context.Context, session.Reader, *plan.CoordinationFacts) error) (inspect.Facts, error) {
	why := ""
	cluster.More = func(ctx context.Context, r session.Reader, s *plan.Snapshot) error {
		if !s.Database.Available() {
			return nil // the database is unavailable, and trying takes a minute
		}
		if err := read(ctx, r, &s.Coordination); err != nil && live.Interrupted(ctx) == nil {
			why = exit.Explain(exit.CauseOf(ctx, err))
		}
		return live.Interrupted(ctx)
	}
	facts, err := cluster.Facts(ctx)
	if why != "" {
		facts.Warnings = append(facts.Warnings, "cannot read "+what+": "+why)
	}
	return facts, err
}
