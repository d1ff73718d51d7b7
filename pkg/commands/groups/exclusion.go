package groups

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
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
