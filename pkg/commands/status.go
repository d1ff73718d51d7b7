package commands

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// statusOptions is what `kubectl fdb status` was asked to show.
type statusOptions struct {
	clusterFlag
	outputFlags
	all     bool
	watch   bool
	wait    bool
	timeout time.Duration
}

func newStatus(env *Env) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show how a cluster is doing, on one screen",
		Long: `Show how a cluster is doing, on one screen: a sentence that says it all, then what
it rests on. Each section says where its facts come from and how old they are; a
database that does not answer is never called available.

Exit code 0: healthy. 1: not healthy. 8: nobody can tell.`,
		Example: `  # How is it?
  kubectl fdb status sample-cluster

  # All clusters that I may see
  kubectl fdb status -A

  # Wait until it is healthy, for ten minutes at most
  kubectl fdb status sample-cluster --wait --timeout 10m`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.outputFlags.add(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "list the clusters of all namespaces")
	flags.BoolVarP(&o.watch, "watch", "w", false, "show it again and again")
	flags.BoolVar(&o.wait, "wait", false, "wait until healthy, then show it")
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, with exit code 3; 0 is never")
	return cmd
}

// lookInterval is how long to rest between two looks at a cluster.
const lookInterval = 5 * time.Second

func (o statusOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case o.timeout < 0:
		return usagef("--timeout cannot be negative")
	case o.watch && o.wait:
		return usagef("--watch goes on, --wait ends: choose one")
	}
	ctx, stop := withTimeout(ctx, env.Clock, o.timeout)
	defer stop()
	look, err := o.looker(ctx, env, args)
	if err != nil {
		return causeOf(ctx, err)
	}
	if o.watch {
		return o.watchIt(ctx, env, look)
	}
	return o.showOnce(ctx, env, look)
}

// looker returns what to do for one look: at one cluster, or at all.
func (o statusOptions) looker(ctx context.Context, env *Env, args []string) (func(context.Context) (statusResult, error), error) {
	if o.all {
		if len(args) > 0 || o.name != "" {
			return nil, usagef("-A lists all clusters; leave out the name of one")
		}
		return func(ctx context.Context) (statusResult, error) { return o.lookAtAll(ctx, env) }, nil
	}
	record, err := env.cluster(ctx, args, o.name, reads)
	if err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	env.about = key
	return func(ctx context.Context) (statusResult, error) { return o.lookAt(ctx, env, key) }, nil
}

// statusResult is one look: the document, and what it means for the shell.
type statusResult struct {
	printable
	code   int
	reason string
}

func (o statusOptions) lookAt(ctx context.Context, env *Env, key types.NamespacedName) (statusResult, error) {
	metadata := env.metadata(key)
	seen := observation{env: env, key: key}
	if o.isTable() && !o.wait && !env.global.quiet {
		seen.slow = func(f ui.Facts) { _ = o.screen(env, env.ErrOut, ui.NewStatusView(metadata, f)) }
	}
	facts, err := seen.facts(ctx)
	if err != nil {
		return statusResult{}, err
	}
	v := ui.NewStatusView(metadata, facts)
	return statusResult{
		printable: printable{
			document: v, names: []string{"foundationdbcluster/" + key.Name},
			table: func(w io.Writer) error { return o.screen(env, w, v) },
		},
		code: stateCode(v.State), reason: v.Summary,
	}, nil
}

func (o statusOptions) screen(env *Env, w io.Writer, v ui.StatusView) error {
	return ui.WriteStatus(w, v, ui.StatusOptions{Paint: env.paint(w), Wide: o.format == "wide", Absolute: o.absolute, Now: env.Clock.Now()})
}

func stateCode(s ui.State) int {
	switch s {
	case ui.StateHealthy:
		return ExitDone
	case ui.StateUnknown:
		return ExitUnreachable
	default:
		return ExitNo
	}
}

// parallelLooks bounds how many clusters are asked at once.
const parallelLooks = 8

func (o statusOptions) lookAtAll(ctx context.Context, env *Env) (statusResult, error) {
	c, err := env.Client()
	if err != nil {
		return statusResult{}, err
	}
	clusters, err := clustersIn(ctx, c, "")
	if err != nil {
		return statusResult{}, err
	}
	slices.SortFunc(clusters, func(a, b cluster) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	views := make([]ui.StatusView, len(clusters))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelLooks)
	for i := range clusters {
		key := types.NamespacedName{Namespace: clusters[i].Namespace, Name: clusters[i].Name}
		group.Go(func() error {
			facts, err := observation{env: env, key: key}.facts(ctx)
			if err != nil {
				return err
			}
			views[i] = ui.NewStatusView(env.metadata(key), facts)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return statusResult{}, err
	}
	return o.listed(env, views), nil
}

func (o statusOptions) listed(env *Env, views []ui.StatusView) statusResult {
	list := ui.NewStatusListView(env.metadata(types.NamespacedName{}), env.Clock.Now(), views)
	r := statusResult{printable: printable{
		document: list,
		table: func(w io.Writer) error {
			if len(views) == 0 {
				env.talk("there is no FoundationDBCluster in any namespace")
				return nil
			}
			return ui.WriteStatusList(w, list, o.list(env))
		},
	}}
	for _, v := range views {
		r.names = append(r.names, "foundationdbcluster/"+v.Metadata.Cluster)
		if code := stateCode(v.State); code > r.code {
			r.code, r.reason = code, v.Metadata.Namespace+"/"+v.Metadata.Cluster+": "+v.Summary
		}
	}
	return r
}

// showOnce looks once, or with --wait until the answer is yes.
func (o statusOptions) showOnce(ctx context.Context, env *Env, look func(context.Context) (statusResult, error)) error {
	said := ""
	for {
		r, err := look(ctx)
		if err != nil {
			return o.ended(ctx, err, said)
		}
		if !o.wait || r.code == ExitDone {
			return o.end(env, r)
		}
		if r.reason != said {
			env.talk("waiting: %s", r.reason)
			said = r.reason
		}
		if err := env.pause(ctx, lookInterval, r.reason); err != nil {
			return o.ended(ctx, err, said)
		}
	}
}

func (o statusOptions) end(env *Env, r statusResult) error {
	if err := o.print(env.Out, r.printable); err != nil {
		return err
	}
	if r.code != ExitDone {
		return answer{r.code}
	}
	return nil
}

// ended is for a wait that something cut short.
func (o statusOptions) ended(ctx context.Context, err error, said string) error {
	cause := causeOf(ctx, err)
	if errors.Is(cause, errTimeout) && said != "" {
		return &failure{code: ExitWaiting, err: errors.New(errTimeout.Error() + " after " + o.timeout.String() + ": " + said)}
	}
	return cause
}

// watchIt looks until it is interrupted.
func (o statusOptions) watchIt(ctx context.Context, env *Env, look func(context.Context) (statusResult, error)) error {
	return env.watch(ctx, func(ctx context.Context) error {
		r, err := look(ctx)
		if err != nil {
			return err
		}
		r.stream = true
		return o.print(env.Out, r.printable)
	})
}
