package commands

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

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// screenOptions are the options of `kubectl fdb watch`.
type screenOptions struct {
	clusterFlag
	interval  time.Duration
	allow     bool
	reconcile bool
	record    string
	replay    string
	plain     bool
}

const (
	screenInterval      = 2 * time.Second
	leastScreenInterval = time.Second
)

const screenLong = `Watch clusters live in a dashboard: a summary sentence, and one view per number key:
process groups, nodes and zones, exclusions, coordinators, the next pass and why it waits,
locks, events, the running pass, and backups. "?" lists all keys, "q" quits.

Every fact shows its age. If the API server or the database does not answer, its facts age
and all others stay current. Without CLUSTER the dashboard covers all clusters of the
namespace, one at a time.

The dashboard changes nothing, unless --allow-actions enables the keys for replace,
exclude, include, restart, reconcile and cordon: each shows the plan of the command of that
name and prompts as the command does. --reconcile runs passes like reconcile --watch and
shows them.

--record writes what is shown to a file, without the secrets of the database; --replay
shows such a file without a cluster, forwards and backwards. --plain prints one line per
change instead of the dashboard: for screen readers, pipes and simple terminals.`

func newWatch(env *Env) *cobra.Command {
	var o screenOptions
	cmd := &cobra.Command{
		Use:   "watch [CLUSTER]",
		Short: "Watch clusters live in a dashboard",
		Long:  screenLong,
		Example: `  # Watch a cluster
  kubectl fdb watch sample-cluster

  # Watch a cluster, and act on it by key after a plan and a prompt
  kubectl fdb watch sample-cluster --allow-actions

  # Print one line per change
  kubectl fdb watch sample-cluster --plain

  # Record, and replay later without a cluster
  kubectl fdb watch sample-cluster --record night.ndjson
  kubectl fdb watch --replay night.ndjson`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: env.firstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.add(cmd, env)
	flags := cmd.Flags()
	flags.DurationVar(&o.interval, "interval", screenInterval, "interval between updates")
	flags.BoolVar(&o.allow, "allow-actions", false, "If true, keys can change the cluster, each after a plan and a prompt")
	flags.BoolVar(&o.reconcile, "reconcile", false, "If true, run passes at every change and show them")
	flags.StringVar(&o.record, "record", "", "file to record to; it must not exist")
	flags.StringVar(&o.replay, "replay", "", "recorded file to show instead of a cluster")
	flags.BoolVar(&o.plain, "plain", false, "If true, print one line per change instead of the dashboard")
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

// check validates the flags and the terminal before anything is read.
func (o screenOptions) check(env *Env, args []string) error {
	acts := o.allow || o.reconcile
	switch {
	case o.interval < leastScreenInterval:
		return usagef("--interval must be at least %s", leastScreenInterval)
	case o.replay != "" && (acts || o.record != ""):
		return usagef("--replay conflicts with all other flags except --plain")
	case o.replay != "" && len(args)+len(o.name) > 0:
		return usagef("--replay conflicts with CLUSTER: it shows the clusters of the recording")
	case o.plain && o.allow:
		return usagef("--allow-actions conflicts with --plain")
	case o.plain && o.reconcile:
		return usage(errors.New("--reconcile conflicts with --plain"), "print passes as text: "+env.command("reconcile", "--watch"))
	case !o.plain && (!env.IsTerminal(env.In) || !env.IsTerminal(env.Out)):
		return usage(errors.New("the dashboard requires a terminal as stdin and stdout"),
			"print a line per change: "+env.command(o.words(args, "watch", "--plain")...),
			"print a table continuously: "+env.command(o.words(args, "get", "pg", "-w")...))
	case o.isDumb(env) && acts:
		return usagef("TERM=dumb does not support the dashboard, which actions require")
	}
	return nil
}

// words returns a command line about the named cluster.
func (o screenOptions) words(args []string, words ...string) []string {
	cluster := slices.Clone(args)
	if o.name != "" {
		cluster = []string{o.name}
	}
	at := len(words) - 1
	return slices.Concat(words[:at], cluster, words[at:])
}

// isDumb reports whether the terminal supports lines but not the dashboard.
func (o screenOptions) isDumb(env *Env) bool { return env.Getenv("TERM") == "dumb" }

func (o screenOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.check(env, args); err != nil {
		return err
	}
	if o.isDumb(env) && !o.plain {
		env.logf("TERM=dumb does not support the dashboard: printing a line per change")
		o.plain = true
	}
	if o.replay != "" {
		return o.runReplay(ctx, env)
	}
	namespace, clusters, err := o.clusters(ctx, env, args)
	if err != nil {
		return causeOf(ctx, err)
	}
	keep, done, err := newRecorder(o.record)
	if err != nil {
		return err
	}
	return errors.Join(o.show(ctx, env, namespace, clusters, keep), done())
}

// clusters returns the clusters to show: the named one, or all of the namespace.
func (o screenOptions) clusters(ctx context.Context, env *Env, args []string) (namespace string, names []string, err error) {
	name, err := env.clusterName(args, o.name)
	if err != nil {
		return "", nil, err
	}
	if namespace, err = env.namespace(); err != nil {
		return "", nil, err
	}
	c, err := env.Client()
	if err != nil {
		return "", nil, err
	}
	if name != "" {
		names = []string{name}
		_, err = env.read(ctx, c, types.NamespacedName{Namespace: namespace, Name: name})
	} else if names, err = clusterNamesIn(ctx, env, namespace); err == nil && o.reconcile && len(names) > 1 {
		err = usagef("cluster name is required with --reconcile: namespace %s has %s", namespace, strings.Join(names, ", "))
	}
	if err != nil {
		return "", nil, err
	}
	return namespace, names, env.maySee(ctx, namespace)
}

// clusterNamesIn returns the names of all clusters of a namespace.
func clusterNamesIn(ctx context.Context, env *Env, namespace string) ([]string, error) {
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	there, err := clustersIn(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		return nil, usage(fmt.Errorf("no FoundationDBCluster found in namespace %s", namespace), "choose another namespace with -n NAMESPACE", env.kubectlIn("", "fdb", "status", "-A"))
	}
	names := make([]string, len(there))
	for i, c := range there {
		names[i] = c.Name
	}
	slices.Sort(names)
	return names, nil
}

// show shows clusters until the user quits, which is no error, or something ends it.
func (o screenOptions) show(ctx context.Context, env *Env, namespace string, clusters []string, keep func(tui.Entry)) error {
	env.Client = sync.OnceValues(env.Client) // shared by all reads: creating a client costs more than a read
	if o.plain {
		feed := &screenFeed{env: env, namespace: namespace, interval: o.interval}
		return o.showPlain(ctx, env, clusters, feed, keep)
	}
	actions := newScreenActions(env, namespace)
	var feed tui.Feed = &screenFeed{env: env.beside(io.Discard), namespace: namespace, interval: o.interval}
	passes := &reconcilingFeed{Feed: feed, actions: actions}
	if o.reconcile {
		feed = passes
	}
	s := env.screen(clusters)
	s.AllowFlag = "--allow-actions"
	s.Feed, s.Namespace, s.Interval, s.Passes = recorded{feed, keep}, namespace, o.interval, o.reconcile
	if o.allow {
		s.Actions = kept{actions, keep}
	}
	err := tui.Run(ctx, s)
	actions.wait(env)
	return errors.Join(err, passes.end())
}

// screen returns a TUI on this terminal.
func (e *Env) screen(clusters []string) tui.Options {
	return tui.Options{
		In: e.In, Out: e.Out, Clusters: clusters, Context: e.contextName(),
		Command: e.command, Kubectl: e.kubectl, Now: e.Clock.Now, Color: e.paint(e.Out).Color,
	}
}

// beside returns an environment for what runs while the TUI is up: its output does not reach
// the terminal, where it would break the display.
func (e *Env) beside(output io.Writer) *Env {
	other := &Env{
		Kube: e.Kube, Clock: e.Clock, Getenv: e.Getenv, IsTerminal: func(any) bool { return false }, Random: e.Random, Holder: e.Holder,
		RunID: e.RunID, Client: e.Client, Connect: e.Connect, ConnectBackup: e.ConnectBackup, ConnectRestore: e.ConnectRestore, Follow: e.Follow, Tool: e.Tool,
		global: globalFlags{color: colorNever, verbose: e.global.verbose}, started: true,
	}
	other.In, other.Out, other.ErrOut = e.In, output, output
	return other
}
