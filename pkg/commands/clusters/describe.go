package clusters

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// describeOptions are the options of `kubectl fdb describe`.
type describeOptions struct {
	cmdutil.ViewOptions
	// tree shows the objects of the cluster instead of its details, and unhealthy only those with problems.
	tree, unhealthy bool
}

// NewDescribe returns the command `describe`.
func NewDescribe(env *session.Env) *cobra.Command {
	var o describeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"inspect.md#details", "inspect.md#all-objects"}, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Optional("events are not shown", session.Permission{Verb: "list", Resource: "events"}), cmdutil.BackupsToo("backups are not read"))
		},
		With: map[string]func() []declare.Requirement{"--tree": cmdutil.Viewing},
	}, &cobra.Command{
		Use:   "describe [CLUSTER [ID]]",
		Short: "Show the details of a cluster or process group",
		Long: `Show the details of a cluster: its status, its process groups by node, its backups and the
restores into it, what blocks it, its Kubernetes events, and related commands. Nothing is
changed.

--tree shows what belongs to the cluster as a tree instead: its ConfigMap and Services, and
each process group with its conditions, its pod, the pod's node, and its PVC. What needs
attention is colored, and missing objects are listed.`,
		Example: `  # Describe a cluster
  kubectl fdb describe sample-cluster

  # Show all objects of a cluster
  kubectl fdb describe sample-cluster --tree

  # Show only objects with problems, continuously
  kubectl fdb describe sample-cluster --tree --unhealthy -w

  # Describe a process group by its ID, pod name or address
  kubectl fdb describe sample-cluster storage-12345`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	})
	o.add(cmd, env)
	cmd.Flags().BoolVar(&o.tree, "tree", false, "If true, show the objects of the cluster as a tree instead")
	cmd.Flags().BoolVar(&o.unhealthy, "unhealthy", false, "If true, show only objects with problems; requires --tree")
	cmd.AddCommand(newDescribeGroup(env))
	return cmd
}

func (o *describeOptions) add(cmd *cobra.Command, env *session.Env) {
	o.Add(cmd, env)
	cmd.ValidArgsFunction = complete.From(env).ClusterThenGroups
}

func newDescribeGroup(env *session.Env) *cobra.Command {
	var o describeOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Optional("events are not shown", session.Permission{Verb: "list", Resource: "events"}))
		},
	}, &cobra.Command{
		Use:     "process-group [CLUSTER] ID",
		Aliases: []string{"pg", "processgroup"},
		Short:   "Show the details of a process group",
		Long: `Show the details of a process group: its conditions, its processes and their roles, its pod
and PVC, whether it may be evicted or replaced, what blocks it, its Kubernetes events, and
related commands. Nothing is changed.`,
		Example: `  # Describe a process group
  kubectl fdb describe pg sample-cluster storage-12345`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.runGroup(cmd.Context(), env, args) },
	})
	o.add(cmd, env)
	return cmd
}

// run describes a cluster, its objects, or one of its process groups.
func (o describeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	named := len(args) == 2 || (len(args) == 1 && o.Name != "")
	switch {
	case o.unhealthy && !o.tree:
		return exit.Usagef("--unhealthy requires --tree")
	case o.tree && named:
		return exit.Usagef("--tree requires a cluster: it includes all process groups")
	case named:
		return o.runGroup(ctx, env, args)
	}
	show := o.details
	if o.tree {
		show = o.objects
	}
	return o.Display(ctx, env, args, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		return show(ctx, env, key)
	})
}

// details are those of a cluster.
func (o describeOptions) details(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	in, err := observe(ctx, env, key, theCluster)
	if err != nil {
		return cmdutil.Output{}, err
	}
	in.Events, in.EventsHidden = env.Lookup().EventsOf(ctx, key, key.Name)
	in.Events = inspect.EventsAbout(in.Cluster, in.Events)
	v := describe.NewClusterDescription(env.Metadata(key), in)
	return cmdutil.Output{Printable: format.Printable{Document: v, Names: []string{"foundationdbcluster/" + key.Name}, Table: func(w io.Writer) error {
		return ui.WriteClusterDescription(w, v, o.screen(env, w))
	}}}, nil
}

// objects are those of a cluster, as a tree.
func (o describeOptions) objects(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	env.Lookup().WithNodesOfPods(ctx, &facts)
	v := describe.NewTree(env.Metadata(key), facts)
	if o.unhealthy {
		v = v.Unhealthy()
	}
	return cmdutil.Output{Warnings: v.Warnings, Printable: format.Printable{Document: v, Names: []string{"foundationdbcluster/" + key.Name}, Table: func(w io.Writer) error {
		return ui.WriteTree(w, v, o.screen(env, w))
	}}}, nil
}

func (o describeOptions) runGroup(ctx context.Context, env *session.Env, args []string) error {
	cluster, ids := session.IDsOnly(args, o.Name)
	words, err := cmdutil.ExpandArgs(ids, env.In)
	if err != nil {
		return err
	}
	return o.Display(ctx, env, cluster, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		return o.group(ctx, env, key, words)
	})
}

// group are the details of one process group.
func (o describeOptions) group(ctx context.Context, env *session.Env, key types.NamespacedName, words []string) (cmdutil.Output, error) {
	in, err := observe(ctx, env, key, aGroup)
	if err != nil {
		return cmdutil.Output{}, err
	}
	groups, err := session.GroupsNamed(in.Snapshot, words)
	if err != nil {
		return cmdutil.Output{}, err
	}
	if len(groups) != 1 {
		return cmdutil.Output{}, exit.Usagef("describe accepts one process group, not %d", len(groups))
	}
	g := groups[0]
	in.Events, in.EventsHidden = env.Lookup().EventsOf(ctx, key, g.PodName(in.Cluster), g.PVCName(in.Cluster))
	in.Events = inspect.EventsAbout(in.Cluster, in.Events)
	v := describe.NewGroupDescription(env.Metadata(key), in, g)
	return cmdutil.Output{Printable: format.Printable{Document: v, Names: []string{session.GroupPrefix + v.Group.ID}, Table: func(w io.Writer) error {
		return ui.WriteGroupDescription(w, v, o.screen(env, w))
	}}}, nil
}

// subject is the subject of a description: backups do not matter to a process group.
type subject int

const (
	theCluster subject = iota
	aGroup
)

// observe observes the cluster, and decides what a pass would do.
func observe(ctx context.Context, env *session.Env, key types.NamespacedName, what subject) (in describe.Input, err error) {
	backups := func() (inspect.ClusterBackups, error) { return inspect.ClusterBackups{}, nil }
	if what == theCluster {
		backups = session.BackupsReader{Env: env, Key: key}.Beside(ctx)
	}
	l, err := session.ClusterReader{Env: env, Key: key}.Read(ctx)
	if err != nil {
		return in, err
	}
	preview, err := apply.Preview(ctx, l, env, key, live.GateOptions{})
	if err != nil {
		return in, fmt.Errorf("plan a pass: %w", err)
	}
	env.Lookup().WithNodes(ctx, &l.Facts)
	found, err := backups()
	if err != nil {
		return in, err
	}
	l.Backups = &found
	in.Input = why.Input{Facts: l.Facts, Plan: preview, Commands: env.Commands()}
	return in, nil
}

func (o describeOptions) screen(env *session.Env, w io.Writer) ui.StatusOptions {
	return ui.StatusOptions{Paint: env.Paint(w), Wide: true, Absolute: o.Absolute, Now: env.Clock.Now()}
}
