package nodes

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// NewUncordon returns the command that makes nodes schedulable again.
func NewUncordon(env *session.Env) *cobra.Command {
	var o CordonOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"node-maintenance.md"},
		Needs: cordoning,
	}, &cobra.Command{
		Use:   "uncordon [CLUSTER] NODE...",
		Short: "Uncordon nodes and remove the taints set by cordon",
		Long: `Uncordon nodes and remove the taints set by cordon. Other taints stay unless --taint names
them; if a rule of the spec replaces process groups because of one of these, the last line
reports which groups, and when.

A group that is already marked for removal is still replaced; replace --undo removes marks
as long as no data was moved.`,
		Example: `  # Uncordon a node
  kubectl fdb uncordon sample-cluster node-3

  # Also remove a taint that was not set by cordon
  kubectl fdb uncordon node-3 -c sample-cluster --taint example.com/maintenance`,
		ValidArgsFunction: complete.Argument(complete.From(env).NodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runUncordon(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	o.add(cmd)
	flags.Change(cmd, &o.ChangeFlags, "the nodes are schedulable")
	cmd.Flags().StringVar(&o.taint, "taint", "", "taint to remove, KEY[:EFFECT], regardless of its origin. Without nodes and -l it is removed from all nodes that have it")
	return cmd
}

func (o CordonOptions) runUncordon(ctx context.Context, env *session.Env, args []string) error {
	taint, err := parseTaint(o.taint)
	if err != nil {
		return err
	}
	o.tainted = taint
	o.Reversible = !o.byTaint(args) // the user did not name the nodes that a taint selects
	if err := o.Check(env); err != nil {
		return err
	}
	cluster, args, err := session.NodeArgs(ctx, env, args, o.Name)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	resource, err := env.Cluster(ctx, cluster, o.Name, o.Intent())
	if err != nil {
		return err
	}
	nodes, err := o.Names(ctx, env, args)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	return apply.CarryOut(ctx, env, key, o.Uncordon(key.Name, nodes, taint))
}

// Uncordon returns the change that uncordons nodes, and removes a taint if there is one.
func (o CordonOptions) Uncordon(cluster string, nodes []string, taint *corev1.Taint) apply.Change {
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: uncordonWords(cluster, nodes, taint), Permissions: append(session.ReconcilePermissions(), session.NodePermissions()...), Nodes: true,
		Stages: []plan.Stage{operations.UncordonNodes(nodes, taint)}, Goal: &opening{nodes: nodes}, Lockless: true,
	}
}

func uncordonWords(cluster string, nodes []string, taint *corev1.Taint) []string {
	words := append(append([]string{"uncordon"}, nodes...), "-c", cluster)
	if taint != nil {
		words = append(words, "--taint="+taint.ToString())
	}
	return words
}

// opening is the goal of `uncordon`: nodes that are schedulable, and have no taint that causes
// replacements.
type opening struct {
	nodes []string
	seen  []inspect.Target
}

func (o *opening) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	s.ReadNodes()
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Nodes|plan.Pods); err != nil {
		return nil, false, err
	}
	o.seen = targets.OpenNodes(facts, o.nodes)
	return o.seen, inspect.AllReached(o.seen), nil
}

func (o *opening) Summary(apply.Extent) string {
	var open, others []string
	for _, t := range o.seen {
		switch {
		case t.Note != "":
			others = append(others, t.ID+": "+t.Note)
		case t.Reached:
			open = append(open, t.ID)
		}
	}
	if len(open) > 0 {
		others = append([]string{"schedulable: " + strings.Join(open, ", ")}, others...)
	}
	return strings.Join(others, "; ")
}
