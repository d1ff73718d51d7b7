package clusters

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
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
