package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

// ScreenOptions are the options of `kubectl fdb watch`.
type ScreenOptions struct {
	session.ClusterFlag
	Interval  time.Duration
	Allow     bool
	reconcile bool
	record    string
	Replay    string
	plain     bool
	// all shows the clusters of all namespaces.
	all    bool
	export exportFlags
}

const (
	// ScreenInterval is how often the dashboard reads the database.
	ScreenInterval    = 2 * time.Second
	minScreenInterval = time.Second
)

const screenLong = `Watch clusters live in a dashboard: a summary sentence, and one view per number key:
process groups, nodes and zones, exclusions, coordinators, the next pass and why it waits,
locks, events, the running pass, backups, and the load. "?" lists all keys, "q" quits.

Every fact shows its age. If the API server or the database does not answer, its facts age
and all others stay current. Without CLUSTER the dashboard covers all clusters of the
namespace, and with -A those of all namespaces: several are a list first, in which enter
opens one and esc returns.

The dashboard changes nothing, unless --allow-actions enables the keys for replace,
exclude, include, restart, reconcile, cordon, uncordon, drain, coordinators and backups:
each shows the plan of the command of that name and prompts as the command does. It also
enables a shell in a pod. Logs and YAML need no flag. --reconcile runs passes like
reconcile --watch and shows them.

--record writes what is shown to a file, without the secrets of the database; --replay
shows such a file without a cluster, forwards and backwards. --plain prints one line per
change instead of the dashboard: for screen readers, pipes and simple terminals.`

// NewWatch returns the command `watch`.
func NewWatch(env *session.Env) *cobra.Command {
	var o ScreenOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Inspection, Pages: []string{"dashboard.md"}, Endless: true,
		Lacks: declare.Lacking("each of its actions is the command of that name, with its plan, prompt, gates and Lease"),
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Following(), eventsAndLogs(), cmdutil.BackupsToo("backups are not shown"))
		},
		With: map[string]func() []declare.Requirement{
			"--all-namespaces": func() []declare.Requirement {
				return slices.Concat(cmdutil.ViewingAll(), cmdutil.Operators(), cmdutil.Following(), eventsAndLogs(), cmdutil.BackupsToo("backups are not shown"))
			},
			"--allow-actions": func() []declare.Requirement {
				return slices.Concat(cmdutil.Reconciling(), cmdutil.Following(), eventsAndLogs(), cmdutil.BackupsToo("backups are not shown"), cmdutil.Everywhere(cmdutil.Optional("cordon is refused", session.NodePermissions()...)))
			},
			"--reconcile": func() []declare.Requirement {
				return slices.Concat(cmdutil.Reconciling(), cmdutil.Required(session.WatchPermissions()...), eventsAndLogs(), cmdutil.BackupsToo("backups are not shown"))
			},
		},
	}, &cobra.Command{
		Use:   "watch [CLUSTER...]",
		Short: "Watch clusters live in a dashboard",
		Long:  screenLong,
		Example: `  # Watch a cluster
  kubectl fdb watch sample-cluster

  # Watch the clusters of all namespaces
  kubectl fdb watch -A

  # Watch a cluster, and act on it by key after a plan and a prompt
  kubectl fdb watch sample-cluster --allow-actions

  # Print one line per change
  kubectl fdb watch sample-cluster --plain

  # Record, and replay later without a cluster
  kubectl fdb watch sample-cluster --record night.ndjson.zst
  kubectl fdb watch --replay night.ndjson.zst

  # Draw the last moment of a recording, and all of it for a page or a player
  kubectl fdb watch --replay night.ndjson.zst --export svg --size 100x30 > night.svg
  kubectl fdb watch --replay night.ndjson.zst --export html > night.html
  kubectl fdb watch --replay night.ndjson.zst --export cast --keys 2 > nodes.cast`,
		ValidArgsFunction: complete.Argument(complete.From(env).ClusterNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, watch the clusters of all namespaces")
	cmd.Flags().DurationVar(&o.Interval, "interval", ScreenInterval, "interval between updates")
	flags.AtLeast(cmd, "interval", minScreenInterval)
	cmd.Flags().BoolVar(&o.Allow, "allow-actions", false, "If true, keys can change the cluster, each after a plan and a prompt")
	cmd.Flags().BoolVar(&o.reconcile, "reconcile", false, "If true, run passes at every change and show them")
	cmd.Flags().StringVar(&o.record, "record", "", "file to record to, compressed if its name ends with "+monitor.CompressedSuffix+"; it must not exist")
	cmd.Flags().StringVar(&o.Replay, "replay", "", "recorded file to show instead of a cluster")
	cmd.Flags().BoolVar(&o.plain, "plain", false, "If true, print one line per change instead of the dashboard")
	o.export.add(cmd)
	completeFiles(cmd, "record", "replay")
	return cmd
}

// completeFiles completes flags with files.
func completeFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := cmd.MarkFlagFilename(flag); err != nil {
			panic(err) // a flag that does not exist
		}
	}
}

// Check validates the flags and the terminal before anything is read.
func (o ScreenOptions) Check(env *session.Env, args []string) error {
	acts := o.Allow || o.reconcile
	switch {
	case o.all && len(args)+len(o.Name) > 0:
		return exit.Usagef("--all-namespaces conflicts with CLUSTER")
	case o.all && o.reconcile:
		return exit.Usagef("--all-namespaces conflicts with --reconcile, which requires one cluster")
	case o.Replay != "" && (acts || o.record != "" || o.all):
		return exit.Usagef("--replay conflicts with all other flags except --plain and --export")
	case o.Replay != "" && len(args)+len(o.Name) > 0:
		return exit.Usagef("--replay conflicts with CLUSTER: it shows the clusters of the recording")
	case o.plain && o.Allow:
		return exit.Usagef("--allow-actions conflicts with --plain")
	case o.plain && o.reconcile:
		return exit.Usage(errors.New("--reconcile conflicts with --plain"), "print passes as text: "+env.Command("reconcile", "--watch"))
	case o.export.given():
		return o.export.check(o)
	case len(o.export.keys) > 0:
		return exit.Usagef("--keys requires --export")
	case o.export.light:
		return exit.Usagef("--light requires --export")
	case !o.plain && (!env.IsTerminal(env.In) || !env.IsTerminal(env.Out)):
		return exit.Usage(errors.New("the dashboard requires a terminal as stdin and stdout"),
			"print a line per change: "+env.Command(o.words(args, "watch", "--plain")...),
			"print a table continuously: "+env.Command(o.words(args, "get", "pg", "-w")...))
	case o.isDumb(env) && acts:
		return exit.Usagef("TERM=dumb does not support the dashboard, which actions require")
	}
	return nil
}

// words returns a command line about the named cluster.
func (o ScreenOptions) words(args []string, words ...string) []string {
	cluster := slices.Clone(args)
	if o.Name != "" {
		cluster = []string{o.Name}
	}
	at := len(words) - 1
	return slices.Concat(words[:at], cluster, words[at:])
}

// isDumb reports whether the terminal supports lines but not the dashboard.
func (o ScreenOptions) isDumb(env *session.Env) bool { return env.Getenv("TERM") == "dumb" }

func (o ScreenOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(env, args); err != nil {
		return err
	}
	if o.isDumb(env) && !o.plain {
		env.Logf("TERM=dumb does not support the dashboard: printing a line per change")
		o.plain = true
	}
	if o.Replay != "" {
		return o.runReplay(ctx, env)
	}
	namespace, clusters, err := o.clusters(ctx, env, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	keep, done, err := monitor.NewRecorder(o.record)
	if err != nil {
		return err
	}
	return errors.Join(o.show(ctx, env, shownClusters{namespace, clusters, args}, keep), done())
}

// clusters returns the clusters to show: the named ones, or all of the namespace or of all
// namespaces, and the namespace; empty for all.
func (o ScreenOptions) clusters(ctx context.Context, env *session.Env, args []string) (namespace string, names []string, err error) {
	if o.all {
		names, err = clusterNamesIn(ctx, env, "")
		return "", names, err
	}
	if namespace, err = env.Connection().Namespace(); err != nil {
		return "", nil, err
	}
	if names, err = o.named(ctx, env, namespace, args); err != nil {
		return "", nil, err
	}
	if len(names) == 0 {
		names, err = clusterNamesIn(ctx, env, namespace)
	}
	if err == nil && o.reconcile && len(names) > 1 {
		err = exit.Usagef("cluster name is required with --reconcile: namespace %s has %s", namespace, strings.Join(names, ", "))
	}
	if err != nil {
		return "", nil, err
	}
	return namespace, names, session.MaySee(ctx, env, namespace)
}

// named returns the clusters that the user named, which exist; nil for none.
func (o ScreenOptions) named(ctx context.Context, env *session.Env, namespace string, args []string) ([]string, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, arg := range slices.Compact(append(slices.Clone(args), o.Name)) {
		name, err := env.ClusterName([]string{arg}, "")
		if err != nil {
			return nil, err
		}
		if name == "" || slices.Contains(names, name) || arg == "" && len(names) > 0 {
			continue
		}
		if _, err := env.Read(ctx, c, types.NamespacedName{Namespace: namespace, Name: name}); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// clusterNamesIn returns the names of all clusters of a namespace; with their namespaces for all of
// them.
func clusterNamesIn(ctx context.Context, env *session.Env, namespace string) ([]string, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	there, err := session.ClustersIn(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		return nil, exit.Usage(fmt.Errorf("no FoundationDBCluster found %s", session.InNamespace(namespace)), "choose another namespace with -n NAMESPACE", env.KubectlIn("", "fdb", "status", "-A"))
	}
	names := make([]string, len(there))
	for i, c := range there {
		names[i] = fleet.Cluster{Namespace: c.Namespace, Name: c.Name}.Key(namespace)
	}
	slices.Sort(names)
	return names, nil
}

// shownClusters are the clusters of a dashboard.
type shownClusters struct {
	namespace string // empty for all
	clusters  []string
	args      []string // what the user named
}

// show shows clusters until the user quits, which is no error, or something ends it.
func (o ScreenOptions) show(ctx context.Context, env *session.Env, of shownClusters, keep func(tui.Entry)) error {
	namespace, clusters := of.namespace, of.clusters
	env.Client = sync.OnceValues(env.Client) // shared by all reads: creating a client costs more than a read
	if o.plain {
		feed := &monitor.ScreenFeed{Env: env, Namespace: namespace, Interval: o.Interval}
		return o.showPlain(ctx, env, clusters, feed, keep)
	}
	actions := NewScreenActions(env, namespace)
	var feed tui.Feed = &monitor.ScreenFeed{Env: env.Beside(io.Discard), Namespace: namespace, Interval: o.Interval}
	passes := &ReconcilingFeed{Feed: feed, Actions: actions}
	if o.reconcile {
		feed = passes
	}
	s := Screen(env, clusters)
	s.AllowFlag = "--allow-actions"
	if len(clusters) > 1 {
		s.Fleet = &monitor.Fleet{Env: env.Beside(io.Discard), Namespace: namespace, Names: of.limited(), Interval: o.Interval}
	}
	s.Feed, s.Namespace, s.Interval, s.Passes = monitor.Recorded{Feed: feed, Keep: keep}, namespace, o.Interval, o.reconcile
	s.Reads = NewScreenReads(env.Beside(io.Discard), namespace)
	if o.Allow {
		s.Actions = monitor.Kept{Actions: actions, Keep: keep}
	}
	err := tui.Run(ctx, s)
	actions.Wait(env)
	return errors.Join(err, passes.End())
}

// limited returns the names that the list of clusters is limited to: those that the user named;
// nil for none, so that it has clusters that are created later, too.
func (s shownClusters) limited() []string {
	if len(s.args) == 0 {
		return nil
	}
	return s.clusters
}

// Screen returns a TUI on this terminal.
func Screen(e *session.Env, clusters []string) tui.Options {
	return tui.Options{
		In: e.In, Out: layout.Terminal(e.Out), Clusters: clusters, Context: e.Connection().ContextName(),
		Command: e.Command, Kubectl: e.Kubectl, CommandsIn: func(namespace string) (command, kubectl func(...string) string) {
			of := e.Within(namespace, io.Discard)
			return of.Command, of.Kubectl
		}, Now: e.Clock.Now, Color: e.Paint(e.Out).Color, ASCII: e.Paint(e.Out).ASCII,
	}
}

// eventsAndLogs returns what is required to show events and the logs of pods.
func eventsAndLogs() []declare.Requirement {
	return slices.Concat(
		cmdutil.Optional("events are not shown", session.Permission{Verb: "list", Resource: "events"}),
		cmdutil.Optional("logs of pods are not shown", session.Permission{Verb: "get", Resource: "pods", Subresource: "log"}),
	)
}
