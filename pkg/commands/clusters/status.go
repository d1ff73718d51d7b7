package clusters

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// statusOptions are the options of `kubectl fdb status`.
type statusOptions struct {
	session.ClusterFlag
	format.Flags
	cmdutil.PollOptions
	all      bool
	sections []string
	// asMap prints a map of the process groups.
	asMap bool
}

// NewStatus returns the command `status`.
func NewStatus(env *session.Env) *cobra.Command {
	var o statusOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"inspect.md#health"}, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Optional("backups are not shown", cmdutil.TheBackups()...))
		},
	}, &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show the health of a cluster",
		Long: `Show the health of a cluster: a summary sentence, followed by its evidence. Each section
names the source of its facts and their age. A database that does not answer is never
reported as available.

Exit code 0: healthy. 1: not healthy. 8: unknown.`,
		Example: `  # Show the health of a cluster
  kubectl fdb status sample-cluster

  # Show only data and coordinators
  kubectl fdb status sample-cluster --sections fault-tolerance,coordinators

  # Show all process groups on a map of classes and zones
  kubectl fdb status sample-cluster --map

  # List all clusters that you may read
  kubectl fdb status -A`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete.From(env).FirstArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	o.AddWatch(cmd)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	cmd.Flags().StringSliceVar(&o.sections, "sections", nil, "comma-separated sections to print: "+strings.Join(ui.StatusSections(), ", "))
	cmd.Flags().BoolVar(&o.asMap, "map", false, "If true, print a map of the process groups by class and zone instead of the sections")
	complete.Flag(cmd, "sections", ui.StatusSections)
	return cmd
}

// checkSections validates --sections and --map.
func (o statusOptions) checkSections() error {
	if o.asMap && (o.all || !o.IsTable()) {
		return exit.Usagef("--map conflicts with -A and -o %s", o.Format)
	}
	if len(o.sections) == 0 {
		return nil
	}
	if o.all || !o.IsTable() {
		return exit.Usagef("--sections conflicts with -A and -o %s", o.Format)
	}
	for _, name := range o.sections {
		if !slices.Contains(ui.StatusSections(), name) {
			return session.Unknown("section", name, ui.StatusSections())
		}
	}
	return nil
}

func (o statusOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check(), o.checkSections()); err != nil {
		return err
	}
	see, err := o.reader(ctx, env, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return o.Run(ctx, env, o.Flags, see)
}

// reader returns the function that reads once: one cluster, or all.
func (o statusOptions) reader(ctx context.Context, env *session.Env, args []string) (cmdutil.ViewFunc, error) {
	if o.all {
		if len(args) > 0 || o.Name != "" {
			return nil, exit.Usagef("-A conflicts with a cluster name")
		}
		return func(ctx context.Context) (cmdutil.Output, error) { return listClusters(ctx, env, o.Flags, "") }, nil
	}
	cluster, err := env.Cluster(ctx, args, o.Name, session.Reads)
	if err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	env.Run.About = key
	return func(ctx context.Context) (cmdutil.Output, error) { return o.view(ctx, env, key) }, nil
}

func (o statusOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	metadata := env.Metadata(key)
	seen := session.ClusterReader{Env: env, Key: key}
	facts, err := seen.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	env.Lookup().WithNodes(ctx, &facts)
	if facts.Backups, err = (session.BackupsReader{Env: env, Key: key}).Resources(ctx); err != nil {
		return cmdutil.Output{}, err
	}
	v := inspect.NewStatusView(metadata, facts)
	var groups *inspect.Map
	if o.asMap {
		groups = new(inspect.NewMap(inspect.NewGroupListView(metadata, facts).Items, inspect.NewNodeListView(metadata, facts).Items))
	}
	return cmdutil.Output{
		Printable: format.Printable{
			Document: v, Names: []string{"foundationdbcluster/" + key.Name},
			Table: func(w io.Writer) error { return o.screen(env, w, v, groups) },
		},
		Code: stateCode(v.State),
	}, nil
}

func (o statusOptions) screen(env *session.Env, w io.Writer, v inspect.StatusView, groups *inspect.Map) error {
	return ui.WriteStatus(w, v, ui.StatusOptions{Paint: env.Paint(w), Wide: o.Format == "wide", Absolute: o.Absolute, Now: env.Clock.Now(), Sections: o.sections, Map: groups})
}

func stateCode(s inspect.State) int {
	switch s {
	case inspect.StateHealthy:
		return exit.ExitDone
	case inspect.StateUnknown:
		return exit.ExitUnreachable
	default:
		return exit.ExitNo
	}
}
