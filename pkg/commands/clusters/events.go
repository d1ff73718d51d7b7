package clusters

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// eventsOptions are the options of `kubectl fdb events`.
type eventsOptions struct {
	session.ClusterFlag
	format.Flags
	watch bool
	since time.Duration
	types []string
}

var eventTypes = []string{corev1.EventTypeNormal, corev1.EventTypeWarning}

// NewEvents returns the command `events`.
func NewEvents(env *session.Env) *cobra.Command {
	var o eventsOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"inspect.md#details"}, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Required(cmdutil.TheResource(), session.Permission{Verb: "list", Resource: "events"}), cmdutil.Finding())
		},
	}, &cobra.Command{
		Use:   "events [CLUSTER]",
		Short: "Show the Kubernetes events of a cluster",
		Long: `Show the Kubernetes events of a cluster as one timeline, newest last: the events of its
resource, pods, PVCs and services, including deleted ones. API servers keep events for one
hour unless configured otherwise.`,
		Example: `  # Show the events of the last ten minutes
  kubectl fdb events sample-cluster --since 10m

  # Watch warnings
  kubectl fdb events sample-cluster --types Warning -w`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, inspect.EventListView{})
	flags := cmd.Flags()
	flags.BoolVarP(&o.watch, "watch", "w", false, "If true, also print new events as they occur")
	flags.DurationVar(&o.since, "since", 0, "maximum age of events; 0 means no limit")
	flags.StringSliceVar(&o.types, "types", nil, "comma-separated types of events: Normal, Warning")
	complete.Flag(cmd, "types", func() []string { return eventTypes })
	return cmd
}

func (o *eventsOptions) check() error {
	for i, given := range o.types {
		at := slices.IndexFunc(eventTypes, func(t string) bool { return strings.EqualFold(t, given) })
		if at < 0 {
			return session.Unknown("event type", given, eventTypes)
		}
		o.types[i] = eventTypes[at]
	}
	return o.Check()
}

func (o *eventsOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	v, err := o.read(ctx, env, key)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if len(v.Items) == 0 {
		env.Logf("no matching events found for cluster %s", key.Name)
	}
	if !o.watch {
		return o.show(env, v)
	}
	return o.follow(ctx, env, key, v)
}

// follow prints each event once, and again when its count increases.
func (o *eventsOptions) follow(ctx context.Context, env *session.Env, key types.NamespacedName, v inspect.EventListView) error {
	shown := map[string]int{}
	for {
		if fresh := v.Fresh(shown); len(fresh.Items) > 0 {
			if err := o.show(env, fresh); err != nil {
				return err
			}
			o.NoHeaders = true
		}
		if err := env.Waiting().Pause(ctx, cmdutil.PollInterval, ""); err != nil {
			return err
		}
		var err error
		if v, err = o.read(ctx, env, key); err != nil {
			return exit.CauseOf(ctx, err)
		}
	}
}

func (o *eventsOptions) read(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.EventListView, error) {
	c, err := env.Client()
	if err != nil {
		return inspect.EventListView{}, err
	}
	cluster, err := env.Read(ctx, c, key)
	if err != nil {
		return inspect.EventListView{}, err
	}
	events, err := session.EventsIn(ctx, c, key.Namespace)
	if err != nil {
		return inspect.EventListView{}, err
	}
	now, filter := env.Clock.Now(), inspect.EventFilter{Types: o.types}
	if o.since > 0 {
		filter.Since = now.Add(-o.since)
	}
	return inspect.NewEventListView(env.Metadata(key), cluster, events, filter, now), nil
}

func (o *eventsOptions) show(env *session.Env, v inspect.EventListView) error {
	names := make([]string, len(v.Items))
	for i, e := range v.Items {
		names[i] = e.Object
	}
	p := o.Listed(env, v, names)
	p.Stream = o.watch
	if len(v.Items) == 0 {
		p.Table = func(io.Writer) error { return nil }
	}
	return o.Print(env.Out, p)
}
