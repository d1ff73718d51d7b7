package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Values of --evacuate.
const (
	EvacuateByTaint = "by-taint"
	evacuateNow     = "now"
	EvacuateNone    = "none"
)

// CordonOptions are the options of `kubectl fdb cordon`.
type CordonOptions struct {
	session.ClusterFlag
	nodeSelection
	apply.ChangeFlags
	taint           string
	selectedByTaint bool // nodes are selected by the taint
	Evacuate        string
	Max             int
}

// NewCordon returns the command `cordon`.
func NewCordon(env *session.Env) *cobra.Command {
	var o CordonOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Changes, Group: declare.Management, Pages: []string{"node-maintenance.md#by-taint"},
		Needs: cordoning,
		With: map[string]func() []declare.Requirement{
			"--respect-pdb": func() []declare.Requirement {
				return slices.Concat(cordoning(), cmdutil.Required(session.EvictPermissions()...))
			},
		},
	}, &cobra.Command{
		Use:   "cordon [CLUSTER] NODE... | -l SELECTOR | --taint TAINT",
		Short: "Cordon nodes and evacuate their process groups",
		Long: `Cordon nodes, so that removed pods cannot return, and, with --evacuate, evacuate the process
groups of a cluster from them:

  --evacuate=none      only cordon the nodes
  --evacuate=by-taint  taint the nodes to match a rule of the spec; passes replace the
                       groups once both times of the rule are over
  --evacuate=now       mark the groups for replacement now, a few at a time

Cordoning does not prompt, since uncordon reverts it. Evacuation does, and so does a taint
for which a rule of the spec replaces process groups: data moves.

The preview shows what happens to each group and when. FITS shows whether a new pod like
the group's could be scheduled on another node, by taints, node selectors, free resources
and anti-affinity, each group separately; the topology of volumes is not considered. With
--wait, passes repeat until no pod of the cluster is left on the nodes.`,
		Example: `  # Cordon a node; its process groups stay
  kubectl fdb cordon node-3 -c sample-cluster

  # Preview the evacuation by a rule of the spec
  kubectl fdb cordon node-3 -c sample-cluster --evacuate=by-taint --dry-run

  # Preview the evacuation of all nodes that already have a taint
  kubectl fdb cordon --taint example.com/maintenance -c sample-cluster --evacuate=by-taint --dry-run

  # Replace all process groups on a node, one at a time
  kubectl fdb cordon node-3 -c sample-cluster --evacuate=now --wait --yes`,
		ValidArgsFunction: complete.Argument(complete.From(env).NodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	})
	flags.Cluster(cmd, env, &o.ClusterFlag)
	o.add(cmd)
	flags.Removing(cmd, &o.ChangeFlags, "no pod of the cluster is left on the nodes")
	flags := cmd.Flags()
	flags.StringVar(&o.taint, "taint", "", "taint to set, KEY[=VALUE][:EFFECT]; if omitted, --evacuate=by-taint sets the first taint named by a rule of the spec. Without nodes and -l it selects all nodes that already have it")
	flags.StringVar(&o.Evacuate, "evacuate", EvacuateNone, "evacuation of process groups: none, by-taint or now")
	flags.IntVar(&o.Max, "max-concurrent", 1, "maximum number of process groups marked for removal at once, with --evacuate=now")
	complete.FlagWith(cmd, "taint", complete.From(env).TaintKeys)
	complete.Flag(cmd, "evacuate", func() []string { return []string{EvacuateNone, EvacuateByTaint, evacuateNow} })
	return cmd
}

func (o CordonOptions) run(ctx context.Context, env *session.Env, args []string) error {
	taint, err := parseTaint(o.taint)
	if err != nil {
		return err
	}
	o.tainted, o.anyEffect = taint, !strings.Contains(o.taint, ":")
	o.selectedByTaint = o.byTaint(args)
	if taint != nil && taint.Effect == corev1.TaintEffectNoExecute && !o.selectedByTaint {
		return exit.Usagef("--taint %s would evict every pod on the nodes at once: use the effect NoSchedule, with --evacuate or drain to move the pods", o.taint)
	}
	// The user did not name the nodes that a taint selects, so prompt.
	o.Reversible = !o.selectedByTaint && o.Evacuate == EvacuateNone
	if err := o.check(env); err != nil {
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
	if taint, err = o.TaintFor(resource, taint); err != nil {
		return err
	}
	nodes, err := o.Names(ctx, env, args)
	if err != nil {
		return err
	}
	if o.Reversible && taint != nil && safety.ReplacedForTaint(resource, taint.Key) {
		o.Reversible = false // passes move data because of the taint
	}
	key := types.NamespacedName{Namespace: resource.Namespace, Name: resource.Name}
	c, err := o.Prepare(ctx, env, key, nodes, taint)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return apply.CarryOut(ctx, env, key, c)
}

// Prepare prints what happens to the groups on the nodes, and builds the change. Nodes that
// were selected by the taint are not tainted again: its value and its removal are left to what set
// it.
func (o CordonOptions) Prepare(ctx context.Context, env *session.Env, key types.NamespacedName, nodes []string, taint *corev1.Taint) (apply.Change, error) {
	if err := showEvacuation(ctx, env, key, nodes, taint); err != nil {
		return apply.Change{}, err
	}
	open, err := schedulableAmong(ctx, env, nodes)
	if err != nil {
		return apply.Change{}, err
	}
	if o.selectedByTaint {
		c := o.change(key.Name, nodes, nil)
		c.Args = append(append([]string{c.Args[0]}, c.Args[1+len(nodes):]...), "--taint="+o.taint)
		if len(open) > 0 {
			c.Undo = uncordonWords(key.Name, open, nil)
		}
		return c, nil
	}
	c := o.change(key.Name, nodes, taint)
	if len(open) > 0 { // uncordon only what this command cordons
		c.Undo = uncordonWords(key.Name, open, taint)
	}
	return c, nil
}

// check validates the flags before anything is read.
func (o CordonOptions) check(env *session.Env) error {
	switch {
	case !slices.Contains([]string{EvacuateByTaint, evacuateNow, EvacuateNone}, o.Evacuate):
		return exit.Usagef("--evacuate must be none, by-taint or now, not %q", o.Evacuate)
	case o.Evacuate == EvacuateNone && o.Wait:
		return exit.Usagef("--wait requires --evacuate=by-taint or now")
	case o.Max < 1:
		return exit.Usagef("--max-concurrent must be at least 1")
	}
	return o.Check(env)
}

// TaintFor returns the taint to set. Evacuation by taint requires a rule about it.
func (o CordonOptions) TaintFor(c *v1beta2.FoundationDBCluster, taint *corev1.Taint) (*corev1.Taint, error) {
	if o.Evacuate != EvacuateByTaint {
		return taint, nil
	}
	if !c.ReplacementsEnabled() || c.MaxConcurrentAutomaticReplacements() == 0 {
		return nil, exit.Usagef("automatic replacements are disabled in the spec of %s (automationOptions.replacements), so taints have no effect: use --evacuate=now or none", c.Name)
	}
	rules := c.Spec.AutomationOptions.Replacements.TaintReplacementOptions
	if taint == nil {
		for _, r := range rules {
			if key := ptr.Deref(r.Key, ""); key != "" && key != v1beta2.AnyTaint && safety.ReplacedForTaint(c, key) {
				return &corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}, nil
			}
		}
		return nil, exit.Usagef("the spec of %s has no taint that causes replacements (automationOptions.replacements.taintReplacementOptions): use --evacuate=now or none, or set --taint", c.Name)
	}
	if !safety.ReplacedForTaint(c, taint.Key) {
		return nil, exit.Usagef("no rule in the spec of %s replaces groups because of the taint %s: use --evacuate=now or none, or another taint", c.Name, taint.Key)
	}
	return taint, nil
}

// change returns the stages that cordon and evacuate the nodes.
func (o CordonOptions) change(cluster string, nodes []string, taint *corev1.Taint) apply.Change {
	words := append([]string{"cordon"}, nodes...)
	words = append(words, "-c", cluster, "--evacuate="+o.Evacuate)
	if taint != nil {
		words = append(words, "--taint="+taint.ToString())
	}
	first := []plan.Stage{operations.CordonNodes(nodes, taint)}
	c := apply.Change{
		ChangeFlags: o.ChangeFlags, Args: words, Permissions: append(session.ReconcilePermissions(), session.NodePermissions()...), Nodes: true,
		Goal: emptying{nodes: nodes, cordonOnly: !o.Wait},
	}
	marking := stages.Marking
	switch o.Evacuate {
	case evacuateNow:
		marking = stages.MarkingForRemoval
		first = append(first, operations.ReplaceAllOn(nodes, o.Max))
		c.Args, c.Begins = append(c.Args, fmt.Sprintf("--max-concurrent=%d", o.Max)), !o.Wait
	case EvacuateByTaint:
		if o.Wait {
			first = append(first, stages.ReplaceFailed())
		}
	}
	c.Stages = marking(first...)
	if o.Wait {
		c.Stages = stages.Replacing(first...)
	}
	return c
}

// showEvacuation prints which groups are on the nodes, and when each is replaced.
func showEvacuation(ctx context.Context, e *session.Env, key types.NamespacedName, nodes []string, taint *corev1.Taint) error {
	facts, err := session.ClusterReader{Env: e, Key: key, Nodes: true}.Facts(ctx)
	if err != nil {
		return err
	}
	view := lists.NewEvacuationView(facts, nodes, taint, e.Lookup().PlacesBeside(ctx, facts, nodes))
	if len(view.Items) == 0 {
		e.Logf("no process group of %s is on %s", key.Name, strings.Join(nodes, ", "))
		return nil
	}
	if e.Global.Quiet {
		return nil
	}
	return ui.WriteEvacuation(e.ErrOut, view)
}

// emptying is the goal of commands that evacuate nodes.
type emptying struct {
	nodes []string
	// cordonOnly is true if the command ends once the nodes are unschedulable.
	cordonOnly bool
	// agents is true if pods of backup agents are evacuated, too.
	agents bool
}

func (e emptying) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	s.ReadNodes()
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Nodes|plan.Pods); err != nil {
		return nil, false, err
	}
	targets := targets.EmptiedNodes(facts, e.nodes)
	reached := !e.cordonOnly && inspect.AllReached(targets)
	if reached && e.agents {
		if err := s.Observe(ctx, &facts.Snapshot, plan.Agents); err != nil {
			return nil, false, err
		}
		reached = len(readings.AgentsOn(facts.Snapshot, e.nodes)) == 0
	}
	return targets, reached, nil
}

func (e emptying) Summary(to apply.Extent) string {
	names := strings.Join(e.nodes, ", ")
	if to == apply.Reached {
		return "evacuated: " + names
	}
	return "cordoned: " + names
}

// cordoning returns what is required to reconcile, and to change nodes.
func cordoning() []declare.Requirement {
	return slices.Concat(cmdutil.Required(session.ReconcilePermissions()...), cmdutil.Finding(), cmdutil.Everywhere(cmdutil.Required(session.NodePermissions()...)),
		cmdutil.Everywhere(cmdutil.Optional("capacity of other nodes is not checked", session.Permission{Verb: "list", Resource: "pods"})), cmdutil.Operators())
}
