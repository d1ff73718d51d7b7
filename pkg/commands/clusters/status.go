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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// statusOptions are the options of `kubectl fdb status`.
type statusOptions struct {
	session.ClusterFlag
	format.Flags
	cmdutil.PollOptions
	sites    sites.Flags
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
		Needs: statusNeeds, With: cmdutil.OverSites(statusNeeds),
	}, &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show the health of a cluster",
		Long: `Show the health of a cluster: a summary sentence, followed by its evidence. Each section
names the source of its facts and their age. A database that does not answer is never
reported as available.

With --contexts or --sites, show a database that has resources in several Kubernetes
clusters: the database once, and each site. Sites that cannot be read are named first.

Exit code 0: healthy. 1: not healthy. 8: unknown, or a site was not read.`,
		Example: `  # Show the health of a cluster
  kubectl fdb status sample-cluster

  # Show only data and coordinators
  kubectl fdb status sample-cluster --sections fault-tolerance,coordinators

  # Show all process groups on a map of classes and zones
  kubectl fdb status sample-cluster --map

  # Show a database with resources in three Kubernetes clusters
  kubectl fdb status --contexts dc1,dc2,dc3

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
	flags.Sites(cmd, &o.sites, env)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	cmd.Flags().StringSliceVar(&o.sections, "sections", nil, "comma-separated sections to print: "+strings.Join(ui.StatusSections(), ", "))
	cmd.Flags().BoolVar(&o.asMap, "map", false, "If true, print a map of the process groups by class and zone instead of the sections")
	complete.Flag(cmd, "sections", ui.StatusSections)
	return cmd
}

func statusNeeds() []declare.Requirement {
	return slices.Concat(cmdutil.Viewing(), cmdutil.Optional("backups are not shown", cmdutil.TheBackups()...))
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
	named, err := o.sites.Sites(env, sites.Scope{Other: o.all || o.asMap, Words: "-A and --map"})
	if err != nil {
		return nil, err
	}
	switch {
	case o.all && (len(args) > 0 || o.Name != ""):
		return nil, exit.Usagef("-A conflicts with a cluster name")
	case o.all:
		return func(ctx context.Context) (cmdutil.Output, error) { return listClusters(ctx, env, o.Flags, "") }, nil
	case len(named) > 0:
		return func(ctx context.Context) (cmdutil.Output, error) { return o.overSites(ctx, env, named, args) }, nil
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
	facts, err := allFacts(ctx, session.ClusterReader{Env: env, Key: key})
	if err != nil {
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

// overSites reads the status of a database with resources in several Kubernetes clusters.
func (o statusOptions) overSites(ctx context.Context, env *session.Env, named []sites.Site, args []string) (cmdutil.Output, error) {
	v, err := listSites(ctx, env, named, args, o.Name, allFacts)
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := listed(env, o.Flags, v)
	if !o.IsTable() {
		r.Warnings = v.Warnings
	}
	r.Table = func(w io.Writer) error { return ui.WriteSites(w, v, o.text(env, w)) }
	return r, nil
}

// allFacts reads what the status of one cluster shows, and lists of clusters do not.
func allFacts(ctx context.Context, reader session.ClusterReader) (inspect.Facts, error) {
	facts, err := reader.Facts(ctx)
	if err != nil {
		return facts, err
	}
	reader.Env.Lookup().WithNodes(ctx, &facts)
	facts.Backups, err = session.BackupsReader{Env: reader.Env, Key: reader.Key}.Resources(ctx)
	return facts, err
}

func (o statusOptions) screen(env *session.Env, w io.Writer, v inspect.StatusView, groups *inspect.Map) error {
	text := o.text(env, w)
	text.Map = groups
	return ui.WriteStatus(w, v, text)
}

func (o statusOptions) text(env *session.Env, w io.Writer) ui.StatusOptions {
	return ui.StatusOptions{Paint: env.Paint(w), Wide: o.Format == "wide", Absolute: o.Absolute, Now: env.Clock.Now(), Sections: o.sections}
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

// listClusters reads all clusters of a namespace, or of all if it is empty.
func listClusters(ctx context.Context, env *session.Env, o format.Flags, namespace string) (cmdutil.Output, error) {
	views, err := cmdutil.OfEach(ctx, env, namespace, func(key types.NamespacedName, cluster *session.Cluster) inspect.StatusView {
		return statusOrWhyNot(ctx, env, key, cluster)
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := listed(env, o, inspect.NewStatusListView(env.Metadata(types.NamespacedName{}), env.Clock.Now(), views))
	if len(views) == 0 {
		r.None = "no FoundationDBCluster found " + session.InNamespace(namespace)
	}
	return r, nil
}

// listSites reads facts at the sites of one database, whose status is read once.
func listSites(ctx context.Context, env *session.Env, named []sites.Site, args []string, flag string, read func(context.Context, session.ClusterReader) (inspect.Facts, error)) (inspect.StatusListView, error) {
	opened, err := sites.Open(ctx, env, named, args, flag)
	if err != nil {
		return inspect.StatusListView{}, err
	}
	views, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (inspect.StatusView, error) {
		facts, err := read(ctx, reader)
		if err != nil {
			return inspect.StatusView{}, err
		}
		return inspect.NewStatusView(site.Env.Metadata(reader.Key), facts), nil
	})
	if err != nil {
		return inspect.StatusListView{}, err
	}
	v := inspect.NewStatusListView(env.Metadata(types.NamespacedName{}), env.Clock.Now(), views)
	return v.OverSites(unread, sites.Contradictions(opened)), nil
}

// verdictOf returns the exit code of several clusters, and why it is not that of a healthy one. A site that cannot be read is
// unknown.
func verdictOf(v inspect.StatusListView) (code int, reason string) {
	for _, one := range v.Items {
		if c := stateCode(one.State); c > code {
			code, reason = c, one.Metadata.Subject()+": "+one.Summary
		}
	}
	if len(v.Differences) > 0 && code < exit.ExitNo {
		code, reason = exit.ExitNo, v.Differences[0]
	}
	if len(v.Unread) > 0 && code < exit.ExitUnreachable {
		code, reason = exit.ExitUnreachable, v.Unread[0].Warning()
	}
	return code, reason
}

// statusOrWhyNot returns the status of one cluster of several. One that cannot be read is shown
// from its listed resource, with the reason; the others are still shown.
func statusOrWhyNot(ctx context.Context, env *session.Env, key types.NamespacedName, cluster *session.Cluster) inspect.StatusView {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err == nil {
		return inspect.NewStatusView(env.Metadata(key), facts)
	}
	why := exit.Explain(err)
	facts = inspect.Facts{Recorded: cluster}
	facts.Cluster, facts.Now, facts.Database.Unreachable = cluster, env.Clock.Now(), why
	facts.Warnings = []string{"cannot read the cluster: " + why}
	return inspect.NewStatusView(env.Metadata(key), facts)
}

func listed(env *session.Env, o format.Flags, v inspect.StatusListView) cmdutil.Output {
	r := cmdutil.Output{Printable: o.Listed(env, v, namesOf(v))}
	r.Code, r.Reason = verdictOf(v)
	return r
}

func namesOf(v inspect.StatusListView) []string {
	return session.NamesOf("foundationdbcluster", v.Items, func(v inspect.StatusView) string { return v.Metadata.Cluster })
}
