package groups

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// NewExclusion is the parent of the exclusion commands. It does nothing by itself.
func NewExclusion(env *session.Env) *cobra.Command {
	cmd := declare.Command(declare.Declaration{Effect: declare.Reads, Group: declare.Inspection, Pages: []string{"inspect.md#exclusion-progress"}}, &cobra.Command{
		Use:     "exclusion",
		Aliases: []string{"exclusions"},
		Short:   "Show the progress of exclusions",
	})
	cmd.AddCommand(newExclusionStatus(env))
	cmdutil.AsParent(cmd, "exclusion command")
	return cmd
}

// exclusionFacts returns the facts about one cluster and its exclusions, from one status
// document and one read of the lists. It never excludes anything to learn more: that would
// start moving data again.
func exclusionFacts(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.Facts, error) {
	return cmdutil.ExclusionFacts(ctx, session.ClusterReader{Env: env, Key: key, Asks: plan.Database})
}

// exclusionListOptions are the options of `kubectl fdb get exclusions`.
type exclusionListOptions struct{ cmdutil.ViewOptions }

// NewGetExclusions returns the command `get exclusions`.
func NewGetExclusions(env *session.Env) *cobra.Command {
	var o exclusionListOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "exclusions [CLUSTER]",
		Short: "List the exclusions in the database",
		Long: `List the exclusions in the database: those of process groups of this cluster, those of
other control-plane instances that share the database, and leftovers of removed process
groups. Use "kubectl fdb exclusion status" for their progress.`,
		Example: `  # List all exclusions
  kubectl fdb get exclusions sample-cluster

  # Print the targets as used by fdbcli
  kubectl fdb get exclusions sample-cluster -o custom-columns=TARGET:.target --no-headers`,
	})
	o.AddView(cmd, env, o.view)
	flags.Sorting(cmd, &o.Flags, lists.ExclusionListView{})
	return cmd
}

func (o *exclusionListOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := exclusionFacts(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	if !facts.Coordination.ExclusionsRead {
		return cmdutil.Output{}, Unanswered(facts, "the exclusions")
	}
	v := lists.NewExclusionListView(env.Metadata(key), facts)
	names := session.NamesOf("exclusion", v.Items, func(e lists.ExclusionView) string { return e.Target })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = "no exclusions in the database of " + key.Name
	}
	return r, nil
}

// Unanswered ends a command whose answer requires the database.
func Unanswered(f inspect.Facts, question string) error {
	why := f.Database.Why()
	switch {
	case why == "" && !f.Database.Available():
		why = "the database is unavailable"
	case why == "" && len(f.Warnings) > 0:
		why = f.Warnings[len(f.Warnings)-1]
	}
	code := exit.ExitUnreachable
	if f.Database.Forbidden {
		code = exit.ExitForbidden
	}
	return &exit.Error{Code: code, Err: fmt.Errorf("cannot determine %s: %s", question, why)}
}

// exclusionStatusOptions are the options of `kubectl fdb exclusion status`.
type exclusionStatusOptions struct {
	cmdutil.ViewOptions
	cmdutil.Selection
	// others also lists exclusions of no process group of the resource.
	others bool
}

// ExclusionInterval is how often the progress of exclusions is read.
const ExclusionInterval = 15 * time.Second

func newExclusionStatus(env *session.Env) *cobra.Command {
	var o exclusionStatusOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:   "status [CLUSTER] [ID...]",
		Short: "Show exclusion progress and safety of removal",
		Long: `Show the progress of exclusions per process, and which processes are safe to remove.

  pending     marked for removal, not excluded yet
  requested   excluded, progress unknown
  moving      excluded, still has data or roles
  unverified  no data or roles are reported any more, but this is not proven; see the reason
  safe        proven: nothing of the database depends on the process

Only a "safe" process may be removed. The proof is the one that a pass requires before a
deletion. The remaining amount is in bytes of storage; a log is drained with its
generation. RATE and ETA need three observations, so --watch; the range after the ETA is its
uncertainty. Nothing is changed, and no exclusion is repeated. kubectl fdb wait
--for=exclusions=safe waits until all are safe.

Exit code 0: all listed processes are safe. 1: some are not. 8: unknown.`,
		Example: `  # Show the progress
  kubectl fdb exclusion status sample-cluster

  # Repeat every 15 s, with rate and ETA
  kubectl fdb exclusion status sample-cluster -w

  # Print one JSON object per line, for scripts
  kubectl fdb exclusion status sample-cluster -w -o json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: complete.From(env).ClusterThenGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	o.AddWatch(cmd)
	flags.Cluster(cmd, env, &o.ClusterFlag)
	flags.Output(cmd, &o.Flags)
	flags.Sorting(cmd, &o.Flags, inspect.ExclusionStatusView{})
	Add(&o.Selection, cmd, env)
	cmd.Flags().BoolVar(&o.others, "all", false, "If true, also list exclusions of no process group of this resource: those of other control-plane instances, and leftovers")
	cmd.Flags().DurationVar(&o.Interval, "interval", ExclusionInterval, "interval between observations")
	flags.AtLeast(cmd, "interval", time.Second)
	return cmd
}

func (o exclusionStatusOptions) run(ctx context.Context, env *session.Env, args []string) error {
	cluster, ids := session.GroupArgs(ctx, env, args, o.Name)
	words, err := cmdutil.ExpandArgs(append(ids, o.IDs...), env.In)
	if err != nil {
		return err
	}
	o.IDs = nil
	keep, err := o.Filter()
	if err != nil {
		return err
	}
	history := &inspect.DrainHistory{}
	return o.Display(ctx, env, cluster, func(ctx context.Context, key types.NamespacedName) (cmdutil.Output, error) {
		return o.view(ctx, env, key, words, keep, history)
	})
}

func (o exclusionStatusOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName, words []string, keep cmdutil.GroupFilter, h *inspect.DrainHistory) (cmdutil.Output, error) {
	facts, err := exclusionFacts(ctx, env, key)
	if err != nil {
		return cmdutil.Output{}, err
	}
	named, err := session.GroupsNamed(facts.Snapshot, words)
	if err != nil {
		return cmdutil.Output{}, err
	}
	v := inspect.NewExclusionStatusView(env.Metadata(key), facts, inspect.ExclusionQuestion{
		Keep: func(g *v1beta2.ProcessGroupStatus) bool {
			return (len(named) == 0 || slices.Contains(named, g)) && keep(facts, g)
		}, Named: len(named) > 0, Others: o.others,
	}, h)
	r := cmdutil.Output{
		Warnings: v.Warnings, Code: drainCode(v),
		Printable: o.Listed(env, v, drainNames(v)),
	}
	if v.Safe == nil {
		r.Warnings = append(slices.Clone(v.Warnings), v.Summary)
	}
	if len(v.Items) == 0 && v.Safe != nil {
		r.None = noneExcluded(v)
	}
	return r, nil
}

func drainCode(v inspect.ExclusionStatusView) int {
	switch {
	case v.Safe == nil:
		return exit.ExitUnreachable
	case *v.Safe:
		return exit.ExitDone
	default:
		return exit.ExitNo
	}
}

// drainNames returns the process groups, each once.
func drainNames(v inspect.ExclusionStatusView) []string {
	var names []string
	for _, d := range v.Items {
		if name := "processgroup/" + d.ID; d.ID != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func noneExcluded(v inspect.ExclusionStatusView) string {
	words := "no matching process group of " + v.Metadata.Cluster + " is excluded or to be excluded"
	if v.Others != nil && *v.Others > 0 {
		words += "; " + phrase.Count(*v.Others, "exclusion") + phrase.Either(*v.Others, " of others, --all lists it", " of others, --all lists them")
	}
	return words
}
