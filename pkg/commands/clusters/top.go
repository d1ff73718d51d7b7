package clusters

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/groups"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	ui "github.com/kubectl-fdb/kubectl-fdb/pkg/ui/workload"
)

// topOptions are the options of `kubectl fdb top`.
type topOptions struct {
	cmdutil.ViewOptions
	// earlier is the document that was printed before, with --watch.
	earlier *workload.View
}

// NewTop returns the command `top`.
func NewTop(env *session.Env) *cobra.Command {
	var o topOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"workload.md"}, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "top [CLUSTER]",
		Short: "Show the load of a database and its processes",
		Long: `Show the load of a database: transactions, latencies, ratekeeper's limit and its reason,
queues, lags, data that is moved, and CPU and disks per process class. Rates are those of
the last seconds, as the database computes them. Causes that slow the database are listed
with their figures and thresholds.

"top processes" lists single processes. "why --performance" ends with an exit code for
scripts.`,
		Example: `  # Show the load of a database
  kubectl fdb top sample-cluster

  # Repeat it, with the growth of the queues
  kubectl fdb top sample-cluster -w

  # Print the reason of ratekeeper's limit
  kubectl fdb top sample-cluster -o jsonpath={.load.ratekeeper.limitedBy.code}`,
	})
	o.AddView(cmd, env, o.view)
	cmd.AddCommand(newTopProcesses(env))
	return cmd
}

func (o *topOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := loadFacts(ctx, env, key, "the load")
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := workload.NewView(env.Metadata(key), workload.Input{Facts: facts, Earlier: o.earlier, Commands: env.Commands()})
	o.earlier = &v
	return cmdutil.Output{Warnings: v.Warnings, Printable: format.Printable{
		Document: v, Names: []string{"foundationdbcluster/" + key.Name},
		Table: func(w io.Writer) error { return ui.WriteTop(w, v, o.List(env, w)) },
	}}, nil
}

// loadFacts reads the status document. Without one of an available database there are no figures.
func loadFacts(ctx context.Context, env *session.Env, key types.NamespacedName, question string) (inspect.Facts, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database}.Facts(ctx)
	if err != nil {
		return facts, err
	}
	if s := facts.Database.Status; s == nil || !s.Available() {
		return facts, groups.Unanswered(facts, question)
	}
	return facts, nil
}

// topProcessesOptions are the options of `kubectl fdb top processes`.
type topProcessesOptions struct {
	cmdutil.ViewOptions
	cmdutil.Selection
	sortBy string
}

func newTopProcesses(env *session.Env) *cobra.Command {
	var o topProcessesOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:     "processes [CLUSTER] [ID...]",
		Aliases: []string{"process", "proc"},
		Short:   "Show the load of each process",
		Long: `Show the load of each process: CPU, disk, memory, queue and lag, the largest first. CPU is
the larger of its core and its run loop: an fdbserver process has one thread. A queue is
what its log and storage roles have in memory and not on disk yet.

IDs and the flags that select process groups limit the list to their processes.`,
		Example: `  # List the processes with the most CPU first
  kubectl fdb top processes sample-cluster

  # List the storage processes with the largest queues first
  kubectl fdb top processes sample-cluster --class storage --sort-by queue

  # Include network, reads and mutations
  kubectl fdb top processes sample-cluster -o wide`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.Add(cmd, env)
	groups.Add(&o.Selection, cmd, env)
	cmd.Flags().StringVar(&o.sortBy, "sort-by", string(workload.ByCPU), "order of the processes: "+strings.Join(workload.SortKeys(), ", "))
	complete.Flag(cmd, "sort-by", workload.SortKeys)
	cmd.ValidArgsFunction = complete.From(env).ClusterThenGroups
	return cmd
}

func (o topProcessesOptions) run(ctx context.Context, env *session.Env, args []string) error {
	by, err := workload.ParseSortKey(o.sortBy)
	if err != nil {
		return exit.Usage(err)
	}
	cluster, ids := session.SplitIDs(args, o.Name)
	if o.IDs, err = cmdutil.ExpandArgs(slices.Concat(ids, o.IDs), env.In); err != nil {
		return err
	}
	if _, err := o.Filter(); err != nil {
		return err
	}
	return o.Display(ctx, env, cluster, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		return o.view(ctx, env, key, by)
	})
}

func (o topProcessesOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName, by workload.SortKey) (cmdutil.Output, error) {
	facts, err := loadFacts(ctx, env, key, "the load of the processes")
	if err != nil {
		return cmdutil.Output{}, err
	}
	if !facts.Database.Status.ListsProcesses() {
		return cmdutil.Output{}, groups.Unanswered(facts, "the load of the processes")
	}
	among, err := o.Match(facts)
	if err != nil {
		return cmdutil.Output{}, err
	}
	l := workload.NewProcessList(workload.NewView(env.Metadata(key), workload.Input{Facts: facts, Commands: env.Commands()}), by)
	l.Items = slices.DeleteFunc(l.Items, func(p workload.ProcessLoad) bool { return o.Chooses() && !groups.HasGroup(among, p.Group) })
	r := cmdutil.Output{Warnings: l.Warnings, Printable: format.Printable{
		Document: l, Names: session.NamesOf("process", l.Items, func(p workload.ProcessLoad) string { return p.Address }),
		Table: func(w io.Writer) error { return ui.WriteProcesses(w, l, o.List(env, w)) },
	}}
	if len(l.Items) == 0 {
		r.None = "the database of " + key.Name + " reports no matching process"
	}
	return r, nil
}
