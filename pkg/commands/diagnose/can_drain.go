package diagnose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	clusterstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const nodePrefix = "node/"

func newCanDrain(env *session.Env) *cobra.Command {
	var o canOptions
	cmd := &cobra.Command{
		Use:   "drain NODE...",
		Short: "Check whether nodes can be drained now",
		Long: `Check whether the pods of a cluster can be evicted from nodes now, to be recreated on
others, by the eviction rules for each kind of pod in docs/eviction.md. A pod that must not
be evicted can often be replaced instead. All arguments are nodes, so -c names the cluster.
Pods of other clusters are not checked.

Exit code 0: yes. 1: no. 8: unknown, which counts as no.`,
		Example: `  # Check whether a node can be drained
  kubectl fdb can drain node/node-3 -c sample-cluster`,
		ValidArgsFunction: session.AsCompletion(env.Completion().NodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			nodes, err := nodesNamed(args)
			if err != nil {
				return err
			}
			return o.ask(cmd.Context(), env, nil, question{verb: "drain", answer: func(ctx context.Context, _ *session.Env, l session.Observation, _ []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
				return canDrain(ctx, env, l, nodes, in)
			}})
		},
	}
	o.add(cmd, env)
	return cmd
}

// nodesNamed parses NAME and node/NAME, each once.
func nodesNamed(args []string) ([]string, error) {
	var nodes []string
	for _, arg := range args {
		name := strings.TrimPrefix(arg, nodePrefix)
		if name == "" || strings.Contains(name, "/") {
			return nil, exit.Usagef("invalid node %q: must be NAME or node/NAME", arg)
		}
		if !slices.Contains(nodes, name) {
			nodes = append(nodes, name)
		}
	}
	if len(nodes) == 0 {
		return nil, exit.Usage(errors.New("at least one node is required"), "kubectl fdb can drain --help")
	}
	return nodes, nil
}

func canDrain(ctx context.Context, e *session.Env, l session.Observation, nodes []string, in *lists.CanInput) error {
	groups := groupsOn(l, nodes)
	if err := envKnown(ctx, e, l, nodes, in); err != nil {
		return err
	}
	in.NeedsDatabase = len(groups) > 0
	for _, node := range nodes {
		in.Subjects = append(in.Subjects, nodePrefix+node)
		in.Do = append(in.Do, e.Kubectl("cordon", node))
	}
	in.What = fmt.Sprintf("the %s of %s may be evicted from %s", phrase.Count(len(groups), "process group"), l.Cluster.Name, phrase.List(nodes))
	evictions(e, l, groups, in)
	return agentEvictions(ctx, l, nodes, in)
}

// agentEvictions adds the checks of the pods of backup agents on nodes, which drain evicts as well.
func agentEvictions(ctx context.Context, l session.Observation, nodes []string, in *lists.CanInput) error {
	var agents plan.Snapshot
	agents.Cluster = l.Cluster
	if err := l.Session.Observe(ctx, &agents, plan.Agents); err != nil {
		return fmt.Errorf("reading the backup agents: %w", err)
	}
	if agents.Agents.Hidden != "" {
		in.Notes = append(in.Notes, "pods of backup agents are unknown: "+agents.Agents.Hidden)
	}
	for _, pod := range readings.AgentsOn(agents, nodes) {
		in.Checks = append(in.Checks, lists.About("pod/"+pod.Name, safety.MayEvictAgent())...)
	}
	return nil
}

// envKnown verifies that the nodes exist: a mistyped one has no pods and would look safe to drain.
func envKnown(ctx context.Context, e *session.Env, l session.Observation, nodes []string, in *lists.CanInput) error {
	all, err := e.Lookup().Nodes(ctx)
	for _, node := range nodes {
		switch {
		case err == nil && all[node] == nil:
			return exit.Usagef("node %q not found%s", node, session.OrMeant(node, slices.Sorted(maps.Keys(all))))
		case err != nil && len(groupsOn(l, []string{node})) == 0:
			return fmt.Errorf("cannot determine whether a node exists that has no pod of %s: %s: %w", l.Cluster.Name, node, err)
		}
	}
	if err != nil {
		in.Notes = append(in.Notes, "nodes cannot be listed, only nodes with pods of the cluster are known: "+exit.Explain(err))
	}
	return nil
}

// groupsOn returns the process groups whose pods are on nodes.
func groupsOn(l session.Observation, nodes []string) []*v1beta2.ProcessGroupStatus {
	return slices.DeleteFunc(slices.Clone(l.Groups()), func(g *v1beta2.ProcessGroupStatus) bool {
		pod := l.Pod(g)
		return pod == nil || !slices.Contains(nodes, pod.Spec.NodeName)
	})
}

// evictions evaluates the rule of each group, and for groups with data whether they share a
// fault domain. A group that must not be evicted may still be replaceable.
func evictions(e *session.Env, l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) {
	var withData, stay []*v1beta2.ProcessGroupStatus
	kinds := map[string]bool{}
	for _, g := range groups {
		checks := safety.MayEvict(l.Snapshot, g)
		in.Checks = append(in.Checks, lists.About(string(g.ProcessGroupID), checks)...)
		kinds[safety.EvictionKind(l.Snapshot, g)] = true
		if g.ProcessClass.IsStateful() {
			withData = append(withData, g)
		}
		if refused(checks) && !refused(safety.MayReplace(l.Snapshot, g)) && !g.IsMarkedForRemoval() {
			stay = append(stay, g)
		}
	}
	if len(withData) > 1 {
		in.Checks = append(in.Checks, lists.About("", []plan.Check{clusterstages.InOneFaultDomain(l.Snapshot, withData)})...)
	}
	for _, r := range safety.EvictionRules() {
		if kinds[r.Kind] {
			in.Notes = append(in.Notes, fmt.Sprintf("rule for %s: evicted when %s; replaced when %s", r.Kind, r.Evict, r.Replace))
		}
	}
	if len(stay) > 0 {
		words := []string{"replace", l.Cluster.Name}
		for _, g := range stay {
			words = append(words, string(g.ProcessGroupID))
		}
		in.Instead = []string{e.Command(append(words, "--dry-run")...)}
	}
}

func refused(checks []plan.Check) bool {
	_, is := plan.Decision{Checks: checks}.Refused()
	return is
}
