package groups

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// groupsOptions are the options of `kubectl fdb get process-groups`.
type groupsOptions struct {
	cmdutil.ViewOptions
	cmdutil.Selection
	sites sites.Flags
	all   bool
}

// NewGetProcessGroups returns the command `process-groups`.
func NewGetProcessGroups(env *session.Env) *cobra.Command {
	var o groupsOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing, With: cmdutil.OverSites(cmdutil.Viewing),
	}, &cobra.Command{
		Use:     "process-groups [CLUSTER] [ID...]",
		Aliases: []string{"pg", "process-group", "processgroups", "processgroup"},
		Short:   "List process groups",
		Long: `List process groups with their pods, roles, conditions and exclusions.

ID is a process group ID, a pod name, an address, or - for stdin.

With --contexts or --sites, list those of one database in several Kubernetes clusters. A
site that cannot be read is a warning, and the exit code is 8.`,
		Example: `  # List all process groups
  kubectl fdb get pg sample-cluster

  # List those that have been failing for half an hour
  kubectl fdb get pg sample-cluster --condition PodFailing,MissingProcesses --older-than 30m

  # Find a process group by address
  kubectl fdb get pg sample-cluster 10.1.0.7:4501

  # List those without a pod, in all clusters
  kubectl fdb get pg -A --condition MissingPod

  # List those of one database in three Kubernetes clusters
  kubectl fdb get pg --contexts dc1,dc2,dc3

  # Sort by a field, or by a column
  kubectl fdb get pg sample-cluster --sort-by .zone

  # List those of a zone, with labels of their pods
  kubectl fdb get pg sample-cluster --field-selector zone=zone-a -L foundationdb.org/fdb-process-class

  # Choose columns by their titles, and fields of the document by their paths
  kubectl fdb get pg sample-cluster -o custom-columns=ID,CONDITIONS,POD:.pod

  # Print IDs, for scripts
  kubectl fdb get pg sample-cluster --class storage -o name`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.Add(cmd, env)
	flags.Sorting(cmd, &o.Flags, inspect.GroupListView{})
	Add(&o.Selection, cmd, env)
	flags.Sites(cmd, &o.sites, env)
	cmd.ValidArgsFunction = complete.From(env).ClusterThenGroups
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the process groups of the clusters of all namespaces")
	return cmd
}

func (o groupsOptions) run(ctx context.Context, env *session.Env, args []string) error {
	named, err := o.sites.Sites(env, sites.Scope{Other: o.all || len(args) > 1 || len(o.IDs) > 0, Words: "-A and names of process groups"})
	if err != nil {
		return err
	}
	if len(named) > 0 {
		return o.runOverSites(ctx, env, named, args)
	}
	cluster, ids := session.GroupArgs(ctx, env, args, o.Name)
	ids, err = cmdutil.ExpandArgs(slices.Concat(ids, o.IDs), env.In)
	if err != nil {
		return err
	}
	o.IDs = ids
	keep, err := o.Filter()
	if err != nil {
		return err
	}
	if o.all {
		return o.runOnAll(ctx, env, slices.Concat(args, ids), keep)
	}
	return o.Display(ctx, env, cluster, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		return o.view(ctx, env, key)
	})
}

func (o groupsOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	among, err := o.Match(facts)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := inspect.NewGroupListView(env.Metadata(key), facts).Labeled(facts)
	v.Items = slices.DeleteFunc(v.Items, func(g inspect.GroupView) bool { return !HasGroup(among, g.ID) })
	return o.listed(env, v, "no process group of "+key.Name+" matches"), nil
}

func (o groupsOptions) listed(env *session.Env, v inspect.GroupListView, none string) cmdutil.Output {
	names := session.NamesOf("processgroup", v.Items, func(g inspect.GroupView) string { return g.ID })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = none
	}
	return r
}

// HasGroup reports whether one of the groups is selected.
func HasGroup(groups []*v1beta2.ProcessGroupStatus, id string) bool {
	return slices.ContainsFunc(groups, func(g *v1beta2.ProcessGroupStatus) bool { return string(g.ProcessGroupID) == id })
}

// Add adds the flags of a command that views process groups.
func Add(s *cmdutil.Selection, cmd *cobra.Command, env *session.Env) {
	flags := cmd.Flags()
	flags.StringSliceVar(&s.IDs, "process-group", nil, "comma-separated process groups to select, by ID, pod name or address; - reads stdin")
	flags.StringSliceVar(&s.Classes, "class", nil, "comma-separated process classes to select")
	flags.StringSliceVar(&s.Conditions, "condition", nil, "comma-separated conditions; select process groups with any of them")
	flags.StringSliceVar(&s.Zones, "zone", nil, "comma-separated zones to select")
	flags.StringSliceVar(&s.Nodes, "node", nil, "comma-separated nodes to select")
	flags.DurationVar(&s.OlderThan, "older-than", 0, "minimum age of a condition of selected process groups; with --condition, of one of these conditions")
	flags.BoolVar(&s.Removing, "removing", false, "If true, select process groups marked for removal")
	flags.BoolVar(&s.Excluded, "excluded", false, "If true, select process groups with an exclusion, in progress or complete")
	flags.StringVarP(&s.Labels, "selector", "l", "", "label selector for the pods of process groups")
	cmdutil.AlsoCalled(cmd, map[string]string{"process-class": "class", "process-condition": "condition", "match-labels": "selector"})
	complete.Flag(cmd, "class", func() []string { return phrase.Strings(v1beta2.ProcessClasses()) })
	complete.Flag(cmd, "condition", func() []string { return phrase.Strings(cmdutil.ConditionTypes()) })
	complete.FlagWith(cmd, "process-group", complete.From(env).GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.ProcessGroupID) }))
	complete.FlagWith(cmd, "node", complete.From(env).NodeNames)
	complete.FlagWith(cmd, "zone", complete.From(env).GroupValues(func(g *v1beta2.ProcessGroupStatus) string { return string(g.FaultDomain) }))
}

// runOnAll lists the process groups of the clusters of all namespaces, which names conflict with.
func (o groupsOptions) runOnAll(ctx context.Context, env *session.Env, names []string, keep cmdutil.GroupFilter) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	if len(names) > 0 || o.Name != "" {
		return exit.Usagef("-A conflicts with names of clusters and process groups")
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.viewAll(ctx, env, keep) })
}

// groupsOrWhyNot holds the process groups of one cluster of several, or the error.
type groupsOrWhyNot struct {
	key    types.NamespacedName
	groups inspect.GroupListView
	err    error
}

// viewAll reads all clusters. One that cannot be read causes a warning and sets the exit code;
// the others are still shown.
func (o groupsOptions) viewAll(ctx context.Context, env *session.Env, keep cmdutil.GroupFilter) (cmdutil.Output, error) {
	all, err := cmdutil.OfEach(ctx, env, "", func(key types.NamespacedName, _ *session.Cluster) groupsOrWhyNot {
		facts, err := session.ClusterReader{Env: env, Key: key}.Facts(ctx)
		if err != nil {
			return groupsOrWhyNot{key: key, err: err}
		}
		return groupsOrWhyNot{key: key, groups: kept(env.Metadata(key), facts, keep)}
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	code, list := exit.ExitDone, inspect.NewGroupsOfAll(env.Metadata(types.NamespacedName{}), env.Clock.Now())
	for _, one := range all {
		if one.err != nil {
			code = exit.ExitUnreachable
			list.Warnings = append(list.Warnings, one.key.String()+" could not be read: "+exit.Explain(one.err))
			continue
		}
		list.Add(one.groups)
	}
	r := o.listed(env, list, "no process group of any cluster matches")
	r.Code = code
	return r, nil
}

// kept returns the process groups that a filter keeps.
func kept(m inspect.Metadata, facts inspect.Facts, keep cmdutil.GroupFilter) inspect.GroupListView {
	v := inspect.NewGroupListView(m, facts).Labeled(facts)
	v.Items = slices.DeleteFunc(v.Items, func(g inspect.GroupView) bool {
		return !keep(facts, facts.Cluster.ProcessGroup(v1beta2.ProcessGroupID(g.ID)))
	})
	return v
}

// runOverSites lists the process groups of the sites of one database.
func (o groupsOptions) runOverSites(ctx context.Context, env *session.Env, named []sites.Site, args []string) error {
	keep, err := o.Filter()
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check(), err); err != nil {
		return err
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.viewSites(ctx, env, named, args, keep) })
}

// viewSites reads all sites. One that cannot be read causes a warning and sets the exit code; the others are still shown.
func (o groupsOptions) viewSites(ctx context.Context, env *session.Env, named []sites.Site, args []string, keep cmdutil.GroupFilter) (cmdutil.Output, error) {
	opened, err := sites.Open(ctx, env, named, args, o.Name)
	if err != nil {
		return cmdutil.Output{}, err
	}
	all, unread, err := cmdutil.OfEachSite(ctx, opened, func(ctx context.Context, reader session.ClusterReader, site *sites.Opened) (inspect.GroupListView, error) {
		facts, err := reader.Facts(ctx)
		if err != nil {
			return inspect.GroupListView{}, err
		}
		return kept(site.Env.Metadata(reader.Key), facts, keep), nil
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	list := inspect.NewGroupsOfAll(env.Metadata(types.NamespacedName{}), env.Clock.Now())
	for _, one := range all {
		list.Add(one)
	}
	list.Unread = unread
	for _, site := range unread {
		list.Warnings = append(list.Warnings, site.Warning())
	}
	r := o.listed(env, list, "no process group of any site that was read matches")
	if len(unread) > 0 {
		r.Code = exit.ExitUnreachable
	}
	return r, nil
}

// preparing selects process groups of a cluster, and builds the change of them.
type preparing func(ctx context.Context, env *session.Env, key types.NamespacedName) (apply.Change, error)

// carryOut finds a cluster, and carries out the change of its process groups. It returns the cluster
// as it was before.
func carryOut(ctx context.Context, env *session.Env, args []string, flag session.ClusterFlag, i session.Intent, prepare preparing) (*v1beta2.FoundationDBCluster, error) {
	record, err := env.Cluster(ctx, args, flag.Name, i)
	if err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	c, err := prepare(ctx, env, key)
	if err != nil {
		return nil, exit.CauseOf(ctx, err)
	}
	return record, apply.CarryOut(ctx, env, key, c)
}
