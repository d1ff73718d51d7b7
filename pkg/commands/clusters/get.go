package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// clientsOptions are the options of `kubectl fdb get clients`.
type clientsOptions struct {
	cmdutil.ViewOptions
	// blocking is the version that clients must support.
	blocking string
	// everywhere searches the pods of clients in all namespaces.
	everywhere bool
}

// NewGetClients returns the command `clients`.
func NewGetClients(env *session.Env) *cobra.Command {
	var o clientsOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:     "clients [CLUSTER]",
		Aliases: []string{"client"},
		Short:   "List database clients and their version compatibility",
		Long: `List the clients reported by the database, with the newest version that each can use and
the pods in which they run. The database names a sample of its clients and only counts the
others, which have rows of their own. BLOCKS is evaluated for --blocking, else during an
upgrade for spec.version, with the rules of a reconcile pass. A client in the pod of a
process and a client of a log group ignored by the spec
(automationOptions.ignoreLogGroupsForUpgrade) block nothing.`,
		Example: `  # List the clients of a database
  kubectl fdb get clients sample-cluster

  # List the clients that block an upgrade to this version
  kubectl fdb get clients sample-cluster --blocking 7.4.6`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.Add(cmd, env)
	flags.Sorting(cmd, &o.Flags, lists.ClientListView{})
	cmd.Flags().StringVar(&o.blocking, "blocking", "", "version of the database; list only clients that cannot connect to it")
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "If true, search the pods of clients in all namespaces")
	return cmd
}

func (o clientsOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if o.blocking != "" {
		if _, err := fdb.ParseVersion(o.blocking); err != nil {
			return exit.Usage(fmt.Errorf("invalid --blocking: %w", err))
		}
	}
	return o.Display(ctx, env, args, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		return o.view(ctx, env, key)
	})
}

func (o clientsOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	if facts.Database.Status == nil || facts.Database.Status.Cluster.Clients == nil {
		return cmdutil.Output{}, groups.Unanswered(facts, "the clients")
	}
	owners, err := o.owners(ctx, env, key.Namespace)
	if err != nil {
		facts.Warnings = append(facts.Warnings, "the pods of clients are unknown: "+exit.Explain(err))
	}
	v := lists.NewClientListView(env.Metadata(key), facts, lists.ClientQuestion{
		Target: o.target(facts.Cluster), OnlyBlocking: o.blocking != "", Owners: owners,
	})
	names := make([]string, len(v.Items))
	for i, c := range v.Items {
		if c.Address != "" {
			names[i] = "client/" + c.Address
		}
	}
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	switch {
	case len(v.Items) == 0 && o.blocking != "":
		r.None = "all clients of " + key.Name + " can connect to version " + o.blocking
	case len(v.Items) == 0:
		r.None = key.Name + " has no clients"
	}
	return r, nil
}

// target returns the version to judge clients by: that of --blocking, else the version that the
// cluster is being upgraded to.
func (o clientsOptions) target(c *session.Cluster) *fdb.Version {
	text := o.blocking
	if text == "" && c.IsBeingUpgraded() {
		text = c.Spec.Version
	}
	version, err := fdb.ParseVersion(text)
	if err != nil {
		return nil
	}
	return &version
}

// owners returns the running pods of the namespace, or of all namespaces, by IP. Pods on the
// host network share the node's IP, which identifies none of them.
func (o clientsOptions) owners(ctx context.Context, env *session.Env, namespace string) (map[string]lists.PodOwner, error) {
	if o.everywhere {
		namespace = ""
	}
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	owners := map[string]lists.PodOwner{}
	next := ""
	for {
		page := &corev1.PodList{}
		if err := c.List(ctx, page, client.InNamespace(namespace), client.Limit(session.PageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list pods %s: %w", session.InNamespace(namespace), err)
		}
		for i := range page.Items {
			note(owners, &page.Items[i])
		}
		if next = page.Continue; next == "" {
			return owners, nil
		}
	}
}

func note(owners map[string]lists.PodOwner, pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodRunning || pod.Spec.HostNetwork {
		return
	}
	owner := lists.PodOwner{Pod: pod.Namespace + "/" + pod.Name}
	if maker := metav1.GetControllerOf(pod); maker != nil {
		owner.Owner = maker.Kind + "/" + maker.Name
	}
	for _, ip := range pod.Status.PodIPs {
		owners[ip.IP] = owner
	}
}

// clustersOptions are the options of `kubectl fdb get clusters`.
type clustersOptions struct {
	format.Flags
	cmdutil.PollOptions
	sites sites.Flags
	all   bool
}

// NewGetClusters returns the command `clusters`.
func NewGetClusters(env *session.Env) *cobra.Command {
	var o clustersOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.ViewingAll, With: cmdutil.OverSites(cmdutil.ViewingAll),
	}, &cobra.Command{
		Use:     "clusters",
		Aliases: []string{"cluster", "fdb", "foundationdbclusters", "foundationdbcluster"},
		Short:   "List clusters",
		Long: `List the clusters of the namespace, one row each, with the columns of
"kubectl fdb status -A". The exit code does not depend on their health; use status for
that.

With --contexts or --sites, list the resources of one database in several Kubernetes
clusters, one row for each site. A site that cannot be read has a row with the reason, and
the exit code is 8.`,
		Example: `  # List the clusters of this namespace
  kubectl fdb get clusters

  # List the clusters of all namespaces, with more columns
  kubectl fdb get clusters -A -o wide

  # List the resources of one database in three Kubernetes clusters
  kubectl fdb get clusters --contexts dc1,dc2,dc3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	})
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, inspect.StatusListView{})
	o.AddWatch(cmd)
	flags.Sites(cmd, &o.sites, env)
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "If true, list the clusters of all namespaces")
	return cmd
}

func (o clustersOptions) run(ctx context.Context, env *session.Env) error {
	if err := errors.Join(o.Flags.Check(), o.PollOptions.Check()); err != nil {
		return err
	}
	named, err := o.sites.Sites(env, sites.Scope{Other: o.all, Words: "-A"})
	if err != nil {
		return err
	}
	if len(named) > 0 {
		return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) { return o.overSites(ctx, env, named) })
	}
	namespace, err := env.Connection().NamespaceUnless(o.all)
	if err != nil {
		return err
	}
	return o.Run(ctx, env, o.Flags, func(ctx context.Context) (cmdutil.Output, error) {
		r, err := listClusters(ctx, env, o.Flags, namespace)
		r.Code = exit.ExitDone
		return r, err
	})
}

func (o clustersOptions) overSites(ctx context.Context, env *session.Env, named []sites.Site) (cmdutil.Output, error) {
	v, err := listSites(ctx, env, named, nil, "", func(ctx context.Context, reader session.ClusterReader) (inspect.Facts, error) {
		return reader.Facts(ctx)
	})
	if err != nil {
		return cmdutil.Output{}, err
	}
	r := listed(env, o.Flags, v)
	r.Warnings, r.Code = v.Warnings, exit.ExitDone
	if len(v.Unread) > 0 {
		r.Code = exit.ExitUnreachable
	}
	return r, nil
}

// processesOptions are the options of `kubectl fdb get processes`.
type processesOptions struct {
	cmdutil.ViewOptions
	cmdutil.Selection
}

// NewGetProcesses returns the command `processes`.
func NewGetProcesses(env *session.Env) *cobra.Command {
	var o processesOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:     "processes [CLUSTER] [ID...]",
		Aliases: []string{"process", "proc"},
		Short:   "List the processes reported by the database",
		Long: `List the processes reported by the database, including those of other control-plane
instances that share it. Processes that should report and do not are listed by
"kubectl fdb get process-groups".

IDs and the flags that select process groups limit the list to their processes.`,
		Example: `  # List all processes
  kubectl fdb get processes sample-cluster

  # Include CPU, memory, disks, lag and messages
  kubectl fdb get processes sample-cluster -o wide

  # List the storage processes on a node
  kubectl fdb get processes sample-cluster --class storage --node node-3

  # List the running versions
  kubectl fdb get processes sample-cluster -o custom-columns=VERSION:.version --no-headers`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, ids := session.GroupArgs(cmd.Context(), env, args, o.Name)
			var err error
			if o.IDs, err = cmdutil.ExpandArgs(slices.Concat(ids, o.IDs), env.In); err != nil {
				return err
			}
			if _, err := o.Filter(); err != nil {
				return err
			}
			return o.Display(cmd.Context(), env, cluster, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
				return o.view(ctx, env, key)
			})
		},
	})
	o.Add(cmd, env)
	flags.Sorting(cmd, &o.Flags, lists.ProcessListView{})
	groups.Add(&o.Selection, cmd, env)
	cmd.ValidArgsFunction = complete.From(env).ClusterThenGroups
	return cmd
}

func (o processesOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	if !facts.Database.Status.ListsProcesses() {
		return cmdutil.Output{}, groups.Unanswered(facts, "the processes")
	}
	among, err := o.Match(facts)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := lists.NewProcessListView(env.Metadata(key), facts)
	v.Items = slices.DeleteFunc(v.Items, func(p lists.ProcessView) bool { return o.Chooses() && !groups.HasGroup(among, p.Group) })
	names := session.NamesOf("process", v.Items, func(p lists.ProcessView) string { return p.Address })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = "the database of " + key.Name + " reports no matching process"
	}
	return r, nil
}
