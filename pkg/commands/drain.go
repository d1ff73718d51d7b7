package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/webhook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// drainOptions are the options of `kubectl fdb drain`.
type drainOptions struct {
	clusterFlag
	nodeSelection
	changeFlags
	most int
}

func newDrain(env *Env) *cobra.Command {
	var o drainOptions
	cmd := &cobra.Command{
		Use:   "drain NODE…",
		Short: "Drain the pods of a cluster from nodes",
		Long: `Drain the pods of a cluster from nodes: cordon the nodes, evict each pod when the eviction
rules for its kind allow it, and wait until none is left. Pods without a PVC are recreated
on other nodes, one at a time; process groups with a PVC are replaced after their data was
moved. Pods of the cluster's backup agents are evicted, one of each backup at a time. Pods
of other workloads are not evicted; use kubectl drain for them afterwards.

If the drain cannot start, the nodes that it cordoned are uncordoned again. After the first
eviction, and when interrupted or timed out, they stay cordoned; run the same command again
to continue.`,
		Example: `  # Check whether the node can be drained, and preview the actions
  kubectl fdb drain node-3 -c sample-cluster --dry-run

  # Drain it before maintenance, in at most two hours
  kubectl fdb drain node-3 -c sample-cluster --yes --timeout 2h`,
		ValidArgsFunction: asCompletion(env.nodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.nodeSelection.add(cmd)
	o.addRemoving(cmd, "no pod of the cluster is left on the nodes")
	o.wait, cmd.Flag("wait").DefValue = true, waitDone
	cmd.Flags().IntVar(&o.most, "max-concurrent", 1, "maximum number of process groups marked for removal at once")
	return cmd
}

func (o drainOptions) run(ctx context.Context, env *Env, args []string) error {
	if o.most < 1 {
		return usagef("--max-concurrent must be at least 1")
	}
	if err := o.check(env); err != nil {
		return err
	}
	record, err := env.cluster(ctx, nil, o.name, o.intent())
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	used, err := env.nodesOf(ctx, key)
	if err != nil {
		return causeOf(ctx, err)
	}
	nodes, err := o.names(ctx, env, args, used...) // pods of a deleted node must be drained too
	if err != nil {
		return err
	}
	if err := env.showEvacuation(ctx, key, nodes, nil); err != nil {
		return causeOf(ctx, err)
	}
	open, err := env.openAmong(ctx, nodes)
	if err != nil {
		return err
	}
	before, err := env.stayingOn(ctx, key, nodes)
	if err != nil {
		return causeOf(ctx, err)
	}
	c := o.change(key.Name, nodes)
	if len(open) > 0 { // nodes cordoned before are not ours to uncordon
		c.undo = uncordonWords(key.Name, open, nil)
	}
	end := env.carryOut(ctx, key, c)
	if left, err := env.stayingOn(ctx, key, nodes); err != nil || left < before {
		return end // pods are already draining: they must not return, and the same command resumes
	}
	return o.undoing(ctx, env, key, open, end)
}

func (o drainOptions) change(cluster string, nodes []string) change {
	words := append(append([]string{"drain"}, nodes...), "-c", cluster)
	if o.most > 1 {
		words = append(words, fmt.Sprintf("--max-concurrent=%d", o.most))
	}
	if !o.wait {
		words = append(words, "--wait=false")
	}
	return change{
		changeFlags: o.changeFlags, words: words, permissions: append(reconcilePermissions(), nodePermissions()...), nodes: true,
		stages: stages.Draining(nodes, o.most),
		goal:   emptying{nodes: nodes, agents: true},
	}
}

// nodesOf returns the nodes that run pods of a cluster.
func (e *Env) nodesOf(ctx context.Context, key types.NamespacedName) ([]string, error) {
	s, err := e.placesOf(ctx, key)
	var names []string
	for _, pod := range s.Pods {
		if pod.Spec.NodeName != "" {
			names = append(names, pod.Spec.NodeName)
		}
	}
	return names, err
}

// placesOf returns the process groups and their pods.
func (e *Env) placesOf(ctx context.Context, key types.NamespacedName) (s plan.Snapshot, err error) {
	session, err := e.Connect(ctx, key)
	if err != nil {
		return s, err
	}
	return s, session.Observe(ctx, &s, plan.Record|plan.Pods)
}

// stayingOn returns the number of process groups on nodes that are not marked for removal.
func (e *Env) stayingOn(ctx context.Context, key types.NamespacedName, nodes []string) (int, error) {
	s, err := e.placesOf(ctx, key)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, g := range s.Staying() {
		if pod := s.Pod(g); pod != nil && slices.Contains(nodes, pod.Spec.NodeName) {
			n++
		}
	}
	return n, nil
}

// undoing uncordons the nodes that a failed command has cordoned. A command that waits or was
// interrupted can be resumed, so its nodes stay cordoned.
func (o drainOptions) undoing(ctx context.Context, env *Env, key types.NamespacedName, open []string, end error) error {
	goesOn := []int{ExitDone, ExitNo, ExitWaiting, ExitConflict, ExitUnconfirmed, ExitHungUp, ExitInterrupted, ExitTerminated, ExitUsage}
	if slices.Contains(goesOn, ExitCode(end)) || ctx.Err() != nil {
		return end
	}
	still, err := env.openAmong(ctx, open)
	ours := slices.DeleteFunc(open, func(node string) bool { return slices.Contains(still, node) })
	if err == nil && len(ours) > 0 {
		env.logf("the drain failed: uncordoning %s", strings.Join(ours, ", "))
		o.yes, o.wait, o.plan, env.planned = true, false, "", nil // the cordon was approved, reverting it needs no approval
		undo := cordonOptions{clusterFlag: o.clusterFlag, changeFlags: o.changeFlags}
		err = env.carryOut(ctx, key, undo.uncordonChange(key.Name, ours, nil))
	}
	if err != nil {
		env.logf("nodes remain cordoned: %s; undo: %s", explain(err), env.command(uncordonWords(key.Name, open, nil)...))
	}
	return end
}

func newEvictionWebhook(env *Env) *cobra.Command {
	return webhook.New(webhook.Host{
		Clock: env.Clock, Getenv: env.Getenv, Holder: env.Holder, Client: env.Client,
		Observer: func(ctx context.Context, c types.NamespacedName) (reconcile.Observer, error) {
			return env.Connect(ctx, c)
		},
		Pass:        env.webhookPass,
		Logf:        env.logf,
		Verbose:     func() int { return env.global.verbose },
		Usage:       usage,
		Unconfirmed: func(err error) error { return &failure{code: ExitUnconfirmed, err: err} },
	})
}

// webhookPass runs one pass for a denied eviction, beside the answers to others.
func (e *Env) webhookPass(ctx context.Context, w webhook.Change) error {
	own := &Env{
		IOStreams: e.IOStreams, Kube: e.Kube, Clock: e.Clock, Getenv: e.Getenv, IsTerminal: e.IsTerminal, Random: e.Random, Holder: e.Holder, RunID: e.RunID,
		Client: e.Client, Connect: e.Connect, ConnectBackup: e.ConnectBackup, ConnectRestore: e.ConnectRestore, Follow: e.Follow, Tool: e.Tool, global: e.global,
	}
	flags := changeFlags{dryRun: dryRunNone, yes: true, coexist: w.Coexist, output: "text", interval: pace.DefaultInterval, reason: w.Reason}
	err := own.carryOut(ctx, w.Cluster, change{changeFlags: flags, words: w.Words, permissions: reconcilePermissions(), stages: w.Stages, partial: true})
	if code := ExitCode(err); code == ExitWaiting || code == ExitRefused {
		return nil
	}
	return err
}
