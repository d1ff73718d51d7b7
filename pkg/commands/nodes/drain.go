package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// DrainOptions are the options of `kubectl fdb drain`.
type DrainOptions struct {
	session.ClusterFlag
	nodeSelection
	apply.ChangeFlags
	// Max is the maximum number of process groups that are marked for removal at once.
	Max int
}

// NewDrain returns the command `drain`.
func NewDrain(env *session.Env) *cobra.Command {
	var o DrainOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"node-maintenance.md"},
		Needs: func() []declare.Requirement { return slices.Concat(cordoning(), cmdutil.EvictingAgents()) },
		With: map[string]func() []declare.Requirement{
			"--respect-pdb": func() []declare.Requirement {
				return slices.Concat(cordoning(), cmdutil.EvictingAgents(), cmdutil.Required(session.EvictPermissions()...))
			},
		},
	}, &cobra.Command{
		Use:   "drain [CLUSTER] NODE...",
		Short: "Drain the pods of a cluster from nodes",
		Long: `Drain the pods of a cluster from nodes: cordon the nodes, evict each pod when the eviction
rules for its kind allow it, and wait until none is left. Process groups with a PVC are
replaced: they are removed once their data was moved to new ones. When they are excluded,
pods without a PVC are recreated on other nodes, one at a time. Pods of the cluster's backup
agents are evicted, one of each backup at a time. Pods of other workloads are not evicted;
use kubectl drain for them afterwards.

If the drain cannot start, the nodes that it cordoned are uncordoned again. After the first
eviction, and when interrupted or timed out, they stay cordoned; run the same command again
to continue.`,
		Example: `  # Check whether the node can be drained, and preview the actions
  kubectl fdb drain sample-cluster node-3 --dry-run

  # Drain it before maintenance, in at most two hours
  kubectl fdb drain node-3 -c sample-cluster --yes --timeout 2h`,
		ValidArgsFunction: complete.Argument(complete.From(env).NodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	o.add(cmd)
	flags.Removing(cmd, &o.ChangeFlags, "no pod of the cluster is left on the nodes")
	o.Wait, cmd.Flag("wait").DefValue = true, apply.WaitDone
	cmd.Flags().IntVar(&o.Max, "max-concurrent", 1, "maximum number of process groups marked for removal at once")
	return cmd
}

func (o DrainOptions) run(ctx context.Context, env *session.Env, args []string) error {
	if o.Max < 1 {
		return exit.Usagef("--max-concurrent must be at least 1")
	}
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
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	c, undo, err := o.Prepare(ctx, env, key, args)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return undo(ctx, apply.CarryOut(ctx, env, key, c))
}

// Prepare returns the change that drains nodes, and what follows its end: if no pod was evicted, the
// nodes that it cordoned are uncordoned again.
func (o DrainOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName, args []string) (c apply.Change, undo func(ctx context.Context, end error) error, err error) {
	seen, err := placesOf(ctx, env, key, plan.Agents)
	if err != nil {
		return c, nil, err
	}
	nodes, err := o.Names(ctx, env, args, nodesOf(seen)...) // pods of a deleted node must be drained too
	if err != nil {
		return c, nil, err
	}
	if seen.Agents.Hidden != "" {
		env.Logf("pods of backup agents are left on the nodes: %s", seen.Agents.Hidden)
	}
	if err := showEvacuation(ctx, env, key, nodes, nil); err != nil {
		return c, nil, err
	}
	open, err := schedulableAmong(ctx, env, nodes)
	if err != nil {
		return c, nil, err
	}
	before, err := remainingOn(ctx, env, key, nodes)
	if err != nil {
		return c, nil, err
	}
	c = o.change(key.Name, nodes)
	if len(open) > 0 { // nodes cordoned before are not ours to uncordon
		c.Undo = uncordonWords(key.Name, open, nil)
	}
	return c, func(ctx context.Context, end error) error {
		if left, err := remainingOn(ctx, env, key, nodes); err != nil || left < before {
			return end // pods are already draining: they must not return, and the same command resumes
		}
		return o.undoing(ctx, env, key, open, end)
	}, nil
}

func (o DrainOptions) change(cluster string, nodes []string) apply.Change {
	words := append(append([]string{"drain"}, nodes...), "-c", cluster)
	if o.Max > 1 {
		words = append(words, fmt.Sprintf("--max-concurrent=%d", o.Max))
	}
	if !o.Wait {
		words = append(words, "--wait=false")
	}
	return apply.Change{
		ChangeFlags: o.ChangeFlags, Args: words, Permissions: append(session.ReconcilePermissions(), session.NodePermissions()...), Nodes: true,
		Stages: stages.Draining(nodes, o.Max),
		Goal:   emptying{nodes: nodes, agents: true},
	}
}

// nodesOf returns the nodes that run pods of a cluster.
func nodesOf(s plan.Snapshot) []string {
	var names []string
	for _, pod := range s.Pods {
		if pod.Spec.NodeName != "" {
			names = append(names, pod.Spec.NodeName)
		}
	}
	return names
}

// placesOf returns the process groups and their pods, and more facets.
func placesOf(ctx context.Context, e *session.Env, key types.NamespacedName, more plan.Facet) (s plan.Snapshot, err error) {
	conn, err := e.Connect(ctx, key)
	if err != nil {
		return s, err
	}
	return s, conn.Observe(ctx, &s, plan.ClusterResource|plan.Pods|more)
}

// remainingOn returns the number of process groups on nodes that are not marked for removal.
func remainingOn(ctx context.Context, e *session.Env, key types.NamespacedName, nodes []string) (int, error) {
	s, err := placesOf(ctx, e, key, 0)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, g := range s.Remaining() {
		if pod := s.Pod(g); pod != nil && slices.Contains(nodes, pod.Spec.NodeName) {
			n++
		}
	}
	return n, nil
}

// undoing uncordons the nodes that a failed command has cordoned. A command that waits or was
// interrupted can be resumed, so its nodes stay cordoned.
func (o DrainOptions) undoing(ctx context.Context, env *session.Env, key types.NamespacedName, open []string, end error) error {
	goesOn := []int{exit.ExitDone, exit.ExitNo, exit.ExitWaiting, exit.ExitConflict, exit.ExitUnconfirmed, exit.ExitHungUp, exit.ExitInterrupted, exit.ExitTerminated, exit.ExitUsage}
	if slices.Contains(goesOn, exit.Code(end)) || ctx.Err() != nil {
		return end
	}
	still, err := schedulableAmong(ctx, env, open)
	ours := slices.DeleteFunc(open, func(node string) bool { return slices.Contains(still, node) })
	if err == nil && len(ours) > 0 {
		env.Logf("the drain failed: uncordoning %s", strings.Join(ours, ", "))
		o.Yes, o.Wait, o.Plan, env.Run.Planned = true, false, "", nil // the cordon was approved, reverting it needs no approval
		undo := CordonOptions{ClusterFlag: o.ClusterFlag, ChangeFlags: o.ChangeFlags}
		err = apply.CarryOut(ctx, env, key, undo.Uncordon(key.Name, ours, nil))
	}
	if err != nil {
		env.Logf("nodes remain cordoned: %s; undo: %s", exit.Explain(err), env.Command(uncordonWords(key.Name, open, nil)...))
	}
	return end
}

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
