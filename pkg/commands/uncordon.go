package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// newUncordon returns the command that makes nodes schedulable again.
func newUncordon(env *Env) *cobra.Command {
	var o cordonOptions
	cmd := &cobra.Command{
		Use:   "uncordon NODE…",
		Short: "Uncordon nodes and remove the taints set by cordon",
		Long: `Uncordon nodes and remove the taints set by cordon. Other taints stay unless --taint names
them; if a rule of the spec replaces process groups because of one of these, the last line
reports which groups, and when.

A group that is already marked for removal is still replaced; replace --undo removes marks
as long as no data was moved.`,
		Example: `  # Uncordon a node
  kubectl fdb uncordon node-3 -c sample-cluster

  # Also remove a taint that was not set by cordon
  kubectl fdb uncordon node-3 -c sample-cluster --taint example.com/maintenance`,
		ValidArgsFunction: asCompletion(env.nodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runUncordon(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.nodeSelection.add(cmd)
	o.changeFlags.add(cmd, "the nodes are schedulable")
	cmd.Flags().StringVar(&o.taint, "taint", "", "taint to remove, KEY[:EFFECT], regardless of its origin. Without nodes and -l it is removed from all nodes that have it")
	return cmd
}

func (o cordonOptions) runUncordon(ctx context.Context, env *Env, args []string) error {
	taint, err := parseTaint(o.taint)
	if err != nil {
		return err
	}
	o.tainted = taint
	o.reversible = !o.byTaint(args) // the user did not name the nodes that a taint selects
	if err := o.changeFlags.check(env); err != nil {
		return err
	}
	record, err := env.cluster(ctx, nil, o.name, o.intent())
	if err != nil {
		return err
	}
	nodes, err := o.names(ctx, env, args)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	return env.carryOut(ctx, key, o.uncordonChange(key.Name, nodes, taint))
}

func (o cordonOptions) uncordonChange(cluster string, nodes []string, taint *corev1.Taint) change {
	return change{
		changeFlags: o.changeFlags, words: uncordonWords(cluster, nodes, taint), permissions: append(reconcilePermissions(), nodePermissions()...), nodes: true,
		stages: []plan.Stage{operations.UncordonNodes(nodes, taint)}, goal: &opening{nodes: nodes}, lockless: true,
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

func (o *opening) progress(ctx context.Context, s Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	s.ReadNodes()
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record|plan.Nodes|plan.Pods); err != nil {
		return nil, false, err
	}
	o.seen = targets.OpenNodes(facts, o.nodes)
	return o.seen, inspect.AllReached(o.seen), nil
}

func (o *opening) summary(bool) string {
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
