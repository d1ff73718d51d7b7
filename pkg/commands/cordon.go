package commands

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Values of --evacuate.
const (
	evacuateByTaint = "by-taint"
	evacuateNow     = "now"
	evacuateNone    = "none"
)

// cordonOptions are the options of `kubectl fdb cordon`.
type cordonOptions struct {
	clusterFlag
	nodeSelection
	changeFlags
	taint    string
	there    bool // nodes are selected by the taint
	evacuate string
	most     int
}

func newCordon(env *Env) *cobra.Command {
	var o cordonOptions
	cmd := &cobra.Command{
		Use:   "cordon NODE… | -l SELECTOR | --taint TAINT",
		Short: "Cordon nodes and evacuate their process groups",
		Long: `Cordon nodes, so that removed pods cannot return, and evacuate the process groups of a
cluster from them:

  --evacuate=by-taint  taint the nodes to match a rule of the spec; passes replace the
                       groups once both times of the rule are over
  --evacuate=now       mark the groups for replacement now, a few at a time
  --evacuate=none      only cordon the nodes

The preview shows what happens to each group and when. FITS shows whether a new pod like
the group's could be scheduled on another node, by taints, node selectors, free resources
and anti-affinity, each group separately; the topology of volumes is not considered. With
--wait, passes repeat until no pod of the cluster is left on the nodes.`,
		Example: `  # Preview the evacuation
  kubectl fdb cordon node-3 -c sample-cluster --dry-run

  # Preview the evacuation of all nodes that already have a taint
  kubectl fdb cordon --taint example.com/maintenance -c sample-cluster --dry-run

  # Replace all process groups on a node, one at a time
  kubectl fdb cordon node-3 -c sample-cluster --evacuate=now --wait --yes`,
		ValidArgsFunction: asCompletion(env.nodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	o.clusterFlag.add(cmd, env)
	o.nodeSelection.add(cmd)
	o.addRemoving(cmd, "no pod of the cluster is left on the nodes")
	flags := cmd.Flags()
	flags.StringVar(&o.taint, "taint", "", "taint to set, KEY[=VALUE][:EFFECT]; if omitted, --evacuate=by-taint sets the first taint named by a rule of the spec. Without nodes and -l it selects all nodes that already have it")
	flags.StringVar(&o.evacuate, "evacuate", evacuateByTaint, "evacuation of process groups: by-taint, now or none")
	flags.IntVar(&o.most, "max-concurrent", 1, "maximum number of process groups marked for removal at once, with --evacuate=now")
	completeWith(cmd, "taint", env.taintKeys)
	complete(cmd, "evacuate", func() []string { return []string{evacuateByTaint, evacuateNow, evacuateNone} })
	return cmd
}

func (o cordonOptions) run(ctx context.Context, env *Env, args []string) error {
	taint, err := parseTaint(o.taint)
	if err != nil {
		return err
	}
	o.tainted, o.anyEffect = taint, !strings.Contains(o.taint, ":")
	o.there = o.byTaint(args)
	if taint != nil && taint.Effect == corev1.TaintEffectNoExecute && !o.there {
		return usagef("--taint %s would evict every pod on the nodes at once: use the effect NoSchedule, with --evacuate or drain to move the pods", o.taint)
	}
	// The user did not name the nodes that a taint selects, so prompt.
	o.reversible = !o.there && (o.evacuate == evacuateNone || (o.evacuate == evacuateByTaint && !o.wait))
	if err := o.check(env); err != nil {
		return err
	}
	record, err := env.cluster(ctx, nil, o.name, o.intent())
	if err != nil {
		return err
	}
	if taint, err = o.taintFor(record, taint); err != nil {
		return err
	}
	nodes, err := o.names(ctx, env, args)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: record.Namespace, Name: record.Name}
	c, err := o.prepare(ctx, env, key, nodes, taint)
	if err != nil {
		return causeOf(ctx, err)
	}
	return env.carryOut(ctx, key, c)
}

// prepare prints what happens to the groups on the nodes, and builds the change. Nodes that
// were selected by the taint are not tainted again: whoever set it also owns its value and its
// removal.
func (o cordonOptions) prepare(ctx context.Context, env *Env, key types.NamespacedName, nodes []string, taint *corev1.Taint) (change, error) {
	if err := env.showEvacuation(ctx, key, nodes, taint); err != nil {
		return change{}, err
	}
	open, err := env.openAmong(ctx, nodes)
	if err != nil {
		return change{}, err
	}
	if o.there {
		c := o.change(key.Name, nodes, nil)
		c.words = append(append([]string{c.words[0]}, c.words[1+len(nodes):]...), "--taint="+o.taint)
		if len(open) > 0 {
			c.undo = uncordonWords(key.Name, open, nil)
		}
		return c, nil
	}
	c := o.change(key.Name, nodes, taint)
	if len(open) > 0 { // nodes cordoned before are not ours to uncordon
		c.undo = uncordonWords(key.Name, open, taint)
	}
	return c, nil
}

// check validates the flags before anything is read.
func (o cordonOptions) check(env *Env) error {
	switch {
	case !slices.Contains([]string{evacuateByTaint, evacuateNow, evacuateNone}, o.evacuate):
		return usagef("--evacuate must be by-taint, now or none, not %q", o.evacuate)
	case o.evacuate == evacuateNone && o.wait:
		return usagef("--wait conflicts with --evacuate=none")
	case o.most < 1:
		return usagef("--max-concurrent must be at least 1")
	}
	return o.changeFlags.check(env)
}

// taintFor returns the taint to set. Evacuation by taint requires a rule about it.
func (o cordonOptions) taintFor(c *v1beta2.FoundationDBCluster, taint *corev1.Taint) (*corev1.Taint, error) {
	if o.evacuate != evacuateByTaint {
		return taint, nil
	}
	if !c.ReplacementsEnabled() || c.MaxConcurrentAutomaticReplacements() == 0 {
		return nil, usagef("automatic replacements are disabled in the spec of %s (automationOptions.replacements), so taints have no effect: use --evacuate=now or none", c.Name)
	}
	rules := c.Spec.AutomationOptions.Replacements.TaintReplacementOptions
	if taint == nil {
		for _, r := range rules {
			if key := ptr.Deref(r.Key, ""); key != "" && key != v1beta2.AnyTaint && replacesFor(c, key) {
				return &corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}, nil
			}
		}
		return nil, usagef("the spec of %s has no taint that causes replacements (automationOptions.replacements.taintReplacementOptions): use --evacuate=now or none, or set --taint", c.Name)
	}
	if !replacesFor(c, taint.Key) {
		return nil, usagef("no rule in the spec of %s replaces groups because of the taint %s: use --evacuate=now or none, or another taint", c.Name, taint.Key)
	}
	return taint, nil
}

// replacesFor reports whether a rule of the spec ever replaces groups because of a taint.
func replacesFor(c *v1beta2.FoundationDBCluster, key string) bool {
	return slices.ContainsFunc(c.TaintPatience(key), func(seconds int64) bool { return seconds < math.MaxInt64 })
}

// change returns the stages that cordon and evacuate the nodes.
func (o cordonOptions) change(cluster string, nodes []string, taint *corev1.Taint) change {
	words := append([]string{"cordon"}, nodes...)
	words = append(words, "-c", cluster, "--evacuate="+o.evacuate)
	if taint != nil {
		words = append(words, "--taint="+taint.ToString())
	}
	first := []plan.Stage{operations.CordonNodes(nodes, taint)}
	c := change{
		changeFlags: o.changeFlags, words: words, permissions: append(reconcilePermissions(), nodePermissions()...), nodes: true,
		goal: emptying{nodes: nodes, cordonOnly: !o.wait},
	}
	switch o.evacuate {
	case evacuateNow:
		first = append(first, operations.ReplaceOn(nodes, o.most, true))
		c.words = append(c.words, fmt.Sprintf("--max-concurrent=%d", o.most))
	case evacuateByTaint:
		if o.wait {
			first = append(first, stages.ReplaceFailed())
		}
	}
	c.stages = stages.Marking(first...)
	if o.wait {
		c.stages = stages.Replacing(first...)
	}
	return c
}

// showEvacuation prints which groups are on the nodes, and when each is replaced.
func (e *Env) showEvacuation(ctx context.Context, key types.NamespacedName, nodes []string, taint *corev1.Taint) error {
	facts, err := clusterReader{env: e, key: key, nodes: true}.facts(ctx)
	if err != nil {
		return err
	}
	view := lists.NewEvacuationView(facts, nodes, taint, e.placesBeside(ctx, facts, nodes))
	if len(view.Items) == 0 {
		e.logf("no process group of %s is on %s", key.Name, strings.Join(nodes, ", "))
		return nil
	}
	if e.global.quiet {
		return nil
	}
	return ui.WriteEvacuation(e.ErrOut, view)
}

// emptying is the goal of commands that evacuate nodes.
type emptying struct {
	nodes []string
	// cordonOnly is true if the command ends once the nodes are unschedulable.
	cordonOnly bool
}

func (e emptying) progress(ctx context.Context, s Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	s.ReadNodes()
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record|plan.Nodes|plan.Pods); err != nil {
		return nil, false, err
	}
	targets := targets.EmptiedNodes(facts, e.nodes)
	return targets, !e.cordonOnly && inspect.AllReached(targets), nil
}

func (e emptying) summary(reached bool) string {
	names := strings.Join(e.nodes, ", ")
	if reached {
		return "evacuated: " + names
	}
	return "cordoned: " + names
}
