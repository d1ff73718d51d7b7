package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// newUncordon lets new pods onto nodes again.
func newUncordon(env *Env) *cobra.Command {
	var o cordonOptions
	cmd := &cobra.Command{
		Use:   "uncordon NODE…",
		Short: "Let new pods onto nodes again",
		Long: `Let new pods onto nodes again, and take the taint away that had process groups leave
them. What is marked for removal already goes all the same: replace --undo takes marks
back as long as nothing was moved away.`,
		Example:           `  kubectl fdb uncordon node-3 -c sample-cluster --taint example.com/maintenance --yes`,
		ValidArgsFunction: asCompletion(env.nodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runUncordon(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.nodeSelection.add(cmd)
	o.changeFlags.add(cmd, "the nodes take pods")
	cmd.Flags().StringVar(&o.taint, "taint", "", "the taint to take away as well, KEY[:EFFECT]. Without a node and -l: from all nodes that have it")
	return cmd
}

func (o cordonOptions) runUncordon(ctx context.Context, env *Env, args []string) error {
	taint, err := parseTaint(o.taint)
	if err != nil {
		return err
	}
	o.tainted = taint
	o.reversible = !o.byTaint(args) // which nodes a taint chooses nobody has said
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
		changeFlags: o.changeFlags, words: uncordonWords(cluster, nodes, taint), needs: append(reconcilePowers(), nodePowers()...), nodes: true,
		stages: []plan.Stage{stages.UncordonNodes(nodes, taint)}, purpose: opening(nodes),
	}
}

func uncordonWords(cluster string, nodes []string, taint *corev1.Taint) []string {
	words := append(append([]string{"uncordon"}, nodes...), "-c", cluster)
	if taint != nil {
		words = append(words, "--taint="+taint.ToString())
	}
	return words
}

// opening is the purpose of `uncordon`.
type opening []string

func (o opening) look(ctx context.Context, s Session) ([]ui.Target, bool, error) {
	facts := ui.Facts{}
	s.ReadNodes()
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record|plan.Nodes); err != nil {
		return nil, false, err
	}
	targets := ui.OpenNodes(facts, o)
	return targets, ui.AllReached(targets), nil
}

func (o opening) did(bool) string { return "new pods may come to " + strings.Join(o, ", ") }
