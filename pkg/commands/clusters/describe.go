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
	session.ClusterFlag
	format.Flags
}

// NewDescribe returns the command `describe`.
func NewDescribe(env *session.Env) *cobra.Command {
	var o describeOptions
	cmd := session.Declare(session.Declaration{
		Effect: session.EffectReads, Group: session.Inspection, Pages: []string{"inspect.md#details"}, Dumps: true,
		Needs: func() []session.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Optional("events are not shown", session.Permission{Verb: "list", Resource: "events"}), cmdutil.BackupsToo("backups are not read"))
		},
	}, &cobra.Command{
		Use:   "describe [CLUSTER [ID]]",
		Short: "Show the details of a cluster or process group",
		Long: `Show the details of a cluster: its status, its process groups by node, its backups and the
restores into it, what blocks it, its Kubernetes events, and related commands. Nothing is
changed.`,
		Example: `  # Describe a cluster
  kubectl fdb describe sample-cluster

  # Describe a process group by its ID, pod name or address
  kubectl fdb describe sample-cluster storage-12345`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: env.Completion().ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 || (len(args) == 1 && o.Name != "") {
				return o.runGroup(cmd.Context(), env, args)
			}
			return o.run(cmd.Context(), env, args)
		},
	})
	o.add(cmd, env)
	cmd.AddCommand(newDescribeGroup(env))
	return cmd
}

func (o *describeOptions) add(cmd *cobra.Command, env *session.Env) {
	o.ClusterFlag.Add(cmd, env)
	o.Flags.Add(cmd)
}

func newDescribeGroup(env *session.Env) *cobra.Command {
	var o describeOptions
	cmd := session.Declare(session.Declaration{
		Effect: session.EffectReads, Dumps: true,
		Needs: func() []session.Requirement {
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

		ValidArgsFunction: env.Completion().ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runGroup(cmd.Context(), env, args)
		},
	})
	o.add(cmd, env)
	return cmd
}

func (o describeOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	in, key, err := o.observe(ctx, env, args, theCluster)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	in.Events, in.EventsHidden = env.Lookup().EventsOf(ctx, key, key.Name)
	in.Events = inspect.EventsAbout(in.Cluster, in.Events)
	v := describe.NewClusterDescription(env.Metadata(key), in)
	return o.Print(env.Out, format.Printable{Document: v, Names: []string{"foundationdbcluster/" + key.Name}, Table: func(w io.Writer) error {
		return ui.WriteClusterDescription(w, v, o.screen(env, w))
	}})
}

func (o describeOptions) runGroup(ctx context.Context, env *session.Env, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	cluster, ids := session.IDsOnly(args, o.Name)
	words, err := cmdutil.ExpandArgs(ids, env.In)
	if err != nil {
		return err
	}
	in, key, err := o.observe(ctx, env, cluster, aGroup)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	groups, err := session.GroupsNamed(in.Snapshot, words)
	if err != nil {
		return err
	}
	if len(groups) != 1 {
		return exit.Usagef("describe accepts one process group, not %d", len(groups))
	}
	g := groups[0]
	in.Events, in.EventsHidden = env.Lookup().EventsOf(ctx, key, g.PodName(in.Cluster), g.PVCName(in.Cluster))
	in.Events = inspect.EventsAbout(in.Cluster, in.Events)
	v := describe.NewGroupDescription(env.Metadata(key), in, g)
	return o.Print(env.Out, format.Printable{Document: v, Names: []string{session.GroupPrefix + v.Group.ID}, Table: func(w io.Writer) error {
		return ui.WriteGroupDescription(w, v, o.screen(env, w))
	}})
}

// subject is the subject of a description: backups do not matter to a process group.
type subject int

const (
	theCluster subject = iota
	aGroup
)

// observe observes the cluster, and decides what a pass would do.
func (o describeOptions) observe(ctx context.Context, env *session.Env, args []string, what subject) (in describe.Input, key types.NamespacedName, err error) {
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return in, key, err
	}
	key = types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.About = key
	backups := func() (inspect.ClusterBackups, error) { return inspect.ClusterBackups{}, nil }
	if what == theCluster {
		backups = session.BackupsReader{Env: env, Key: key}.Beside(ctx)
	}
	l, err := session.ClusterReader{Env: env, Key: key}.Read(ctx)
	if err != nil {
		return in, key, err
	}
	preview, err := apply.Preview(ctx, l, env, key, live.GateOptions{})
	if err != nil {
		return in, key, fmt.Errorf("plan a pass: %w", err)
	}
	env.Lookup().WithNodes(ctx, &l.Facts)
	found, err := backups()
	if err != nil {
		return in, key, err
	}
	l.Backups = &found
	in.Input = why.Input{Facts: l.Facts, Plan: preview, Commands: env.Commands()}
	return in, key, nil
}

func (o describeOptions) screen(env *session.Env, w io.Writer) ui.StatusOptions {
	return ui.StatusOptions{Paint: env.Paint(w), Wide: true, Absolute: o.Absolute, Now: env.Clock.Now()}
}
