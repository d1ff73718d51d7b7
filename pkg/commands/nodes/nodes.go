// Package nodes holds the commands for nodes: get, cordon, uncordon and drain.
package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// nodeSelection selects nodes: by name, by label, or, where a command allows it, by a taint.
type nodeSelection struct {
	labels string
	// tainted is the taint that selects nodes if none is named; nil for none.
	tainted *corev1.Taint
	// anyEffect ignores the effect of the taint.
	anyEffect bool
}

// byTaint reports whether nodes are selected by a taint.
func (n nodeSelection) byTaint(args []string) bool {
	return len(args) == 0 && n.labels == "" && n.tainted != nil
}

func (n *nodeSelection) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&n.labels, "selector", "l", "", "label selector for nodes, instead of names")
	cmdutil.AlsoCalled(cmd, map[string]string{"node-selector": "selector"})
}

// namesOf returns the names in arguments, NAME or node/NAME, each once.
func namesOf(args []string) ([]string, error) {
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = strings.TrimPrefix(arg, "node/")
		if names[i] == "" { // an unset shell variable: must not match pods without a node
			return nil, exit.Usagef("node names must not be empty: %q", args)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Names returns the selected nodes, each once. A node that was deleted is no error if it is
// among those known to have existed.
func (n nodeSelection) Names(ctx context.Context, env *session.Env, args []string, known ...string) ([]string, error) {
	selector, err := labels.Parse(n.labels)
	switch {
	case err != nil:
		return nil, exit.Usage(fmt.Errorf("invalid -l: %w", err))
	case len(args) > 0 && n.labels != "":
		return nil, exit.Usagef("node names conflict with -l")
	case len(args) == 0 && n.labels == "" && n.tainted == nil:
		return nil, exit.Usagef("nodes are required: as arguments after the name of the cluster, or selected with -l")
	}
	c, err := env.Client()
	if err != nil {
		return nil, err
	}
	switch {
	case n.byTaint(args):
		return n.withTaint(ctx, c)
	case len(args) == 0:
		return session.NodesWith(ctx, c, selector)
	}
	names, err := namesOf(args)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if err := isNode(ctx, env, c, name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func isNode(ctx context.Context, e *session.Env, c client.Client, name string) error {
	err := c.Get(ctx, types.NamespacedName{Name: name}, &corev1.Node{})
	switch {
	case apierrors.IsNotFound(err):
		return exit.Usage(fmt.Errorf("node %s not found%s", name, nodeMeant(ctx, c, name)), e.KubectlIn("", "get", "nodes"))
	case err != nil:
		return fmt.Errorf("read node %s: %w", name, err)
	default:
		return nil
	}
}

// nodeMeant returns a suggestion for the name of a node, or of a cluster, that does not exist.
func nodeMeant(ctx context.Context, c client.Client, name string) string {
	there, err := session.NodesWith(ctx, c, labels.Everything())
	if err != nil {
		return ""
	}
	return session.OrMeant(name, there)
}

// withTaint returns the nodes that have the taint, with its value if it has one.
func (n nodeSelection) withTaint(ctx context.Context, c client.Client) ([]string, error) {
	list := &corev1.NodeList{}
	if err := c.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var names []string
	for _, node := range list.Items {
		if slices.ContainsFunc(node.Spec.Taints, n.matches) {
			names = append(names, node.Name)
		}
	}
	if len(names) == 0 {
		desired := *n.tainted
		if n.anyEffect {
			desired.Effect = ""
		}
		return nil, exit.Usagef("no node has the taint %s", desired.ToString())
	}
	slices.Sort(names)
	return names, nil
}

func (n nodeSelection) matches(t corev1.Taint) bool {
	return t.Key == n.tainted.Key && (n.tainted.Value == "" || t.Value == n.tainted.Value) && (n.anyEffect || t.Effect == n.tainted.Effect)
}

// parseTaint parses KEY[=VALUE][:EFFECT]; the default effect is NoSchedule.
func parseTaint(text string) (*corev1.Taint, error) {
	if text == "" {
		return nil, nil
	}
	rest, effect, given := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	taint := &corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule}
	if given {
		taint.Effect = corev1.TaintEffect(effect)
	}
	known := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if key == "" || !slices.Contains(known, taint.Effect) {
		return nil, exit.Usagef("--taint must be KEY[=VALUE][:EFFECT] with effect NoSchedule, PreferNoSchedule or NoExecute, not %q", text)
	}
	return taint, nil
}

// schedulableAmong returns the nodes that are schedulable.
func schedulableAmong(ctx context.Context, e *session.Env, names []string) ([]string, error) {
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	var open []string
	for _, name := range names {
		node := &corev1.Node{}
		err := c.Get(ctx, types.NamespacedName{Name: name}, node)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read node %s: %w", name, err)
		}
		if err == nil && !node.Spec.Unschedulable {
			open = append(open, name)
		}
	}
	return open, nil
}

// nodesOptions are the options of `kubectl fdb get nodes`.
type nodesOptions struct {
	cmdutil.ViewOptions
	all bool
}

// NewGetNodes returns the command `nodes`.
func NewGetNodes(env *session.Env) *cobra.Command {
	var o nodesOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: cmdutil.Viewing,
	}, &cobra.Command{
		Use:     "nodes [CLUSTER]",
		Aliases: []string{"node", "no"},
		Short:   "List the nodes of a cluster with taints and timers",
		Long: `List the nodes that run pods of a cluster: their taints, the matching rules of the spec
(automationOptions.replacements.taintReplacementOptions), and when their timers end. The
rule key>300s tolerates the taint for 300 s. DETECT-IN is the time until this ends,
REPLACE-IN the time until passes may replace the process groups on the node.
"kubectl fdb plan" shows how many are replaced at once, and whether too many nodes are
tainted for replacements.

Nodes are not namespaced. Without the permission to list them, "?" is shown, MATCHED-RULE is
not-checked, and the reason is printed on stderr.`,
		Example: `  # List the nodes of a cluster and pending replacements
  kubectl fdb get nodes sample-cluster

  # Include nodes without pods of the cluster
  kubectl fdb get nodes sample-cluster --all`,
	})
	o.AddView(cmd, env, o.view)
	flags.Sorting(cmd, &o.Flags, inspect.NodeListView{})
	cmd.Flags().BoolVar(&o.all, "all", false, "If true, also list nodes without pods of the cluster")
	return cmd
}

func (o *nodesOptions) view(ctx context.Context, env *session.Env, key types.NamespacedName) (cmdutil.Output, error) {
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database, Nodes: true}.Facts(ctx)
	if err != nil {
		return cmdutil.Output{}, err
	}
	newView := inspect.NewNodeListView
	if o.all {
		newView = inspect.NewAllNodesView
	}
	v := newView(env.Metadata(key), facts)
	names := session.NamesOf("node", v.Items, func(n inspect.NodeView) string { return n.Name })
	r := cmdutil.Output{Warnings: v.Warnings, Printable: o.Listed(env, v, names)}
	if len(v.Items) == 0 {
		r.None = "no pod of " + key.Name + " runs on a node"
	}
	return r, nil
}
