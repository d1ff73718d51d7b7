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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const nodePrefix = "node/"

func newCanDrain(env *session.Env) *cobra.Command {
	var o canOptions
	cmd := declare.Command(declare.Declaration{
		Effect: declare.Reads, Dumps: true,
		Needs: func() []declare.Requirement {
			return slices.Concat(cmdutil.Viewing(), cmdutil.Operators(), cmdutil.Everywhere(cmdutil.Required(session.Permission{Verb: "get", Resource: "nodes"})), cmdutil.EvictingAgents())
		},
	}, &cobra.Command{
		Use:   "drain [CLUSTER] NODE...",
		Short: "Check whether nodes can be drained now",
		Long: `Check whether drain can move the pods of a cluster off nodes now, and show what it does:
pods without data are evicted, process groups with a PVC are replaced, coordinators move,
each by the rules in docs/eviction.md. A wait for the age of the last recovery is no
refusal: drain waits as well. Pods of other clusters are not checked.

The answer is about kubectl fdb drain. Whether a pod may be evicted as it is, for example
by kubectl drain, is answered by can delete.

Exit code 0: yes. 1: no. 8: unknown, which counts as no.`,
		Example: `  # Check whether a node can be drained
  kubectl fdb can drain sample-cluster node-3`,
		ValidArgsFunction: complete.Argument(complete.From(env).NodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, args, err := session.NodeArgs(cmd.Context(), env, args, o.Name)
			if err != nil {
				return exit.CauseOf(cmd.Context(), err)
			}
			nodes, err := nodesNamed(args)
			if err != nil {
				return err
			}
			return o.ask(cmd.Context(), env, cluster, question{verb: "drain", answer: func(ctx context.Context, _ *session.Env, l session.Observation, _ []*v1beta2.ProcessGroupStatus, in *lists.CanInput) error {
				return canDrain(ctx, env, l, nodes, in)
			}})
		},
	})
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
	}
	in.Do = []string{e.Command(slices.Concat([]string{"drain"}, nodes, []string{"-c", l.Cluster.Name, "--dry-run"})...)}
	counts := drainChecks(l, groups, in)
	agents, err := agentEvictions(ctx, l, nodes, in)
	if err != nil {
		return err
	}
	counts.evict += agents
	in.What = "drain may " + counts.words() + " on " + phrase.List(nodes)
	if counts == (drainCounts{}) {
		in.What = "no pod of " + l.Cluster.Name + " is on " + phrase.List(nodes)
	}
	return nil
}

// agentEvictions adds the checks of the pods of backup agents on nodes, which drain evicts as well,
// and returns their number.
func agentEvictions(ctx context.Context, l session.Observation, nodes []string, in *lists.CanInput) (int, error) {
	var agents plan.Snapshot
	agents.Cluster = l.Cluster
	if err := l.Session.Observe(ctx, &agents, plan.Agents); err != nil {
		return 0, fmt.Errorf("read the backup agents: %w", err)
	}
	if agents.Agents.Hidden != "" {
		in.Notes = append(in.Notes, "pods of backup agents are unknown: "+agents.Agents.Hidden)
	}
	pods := readings.AgentsOn(agents, nodes)
	for _, pod := range pods {
		in.Checks = append(in.Checks, lists.About("pod/"+pod.Name, safety.MayEvictAgent())...)
	}
	return len(pods), nil
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

// drainCounts is what a drain has to do.
type drainCounts struct{ move, evict, replace, leave int }

// words returns the actions as a clause.
func (d drainCounts) words() string {
	var parts []string
	for _, part := range []struct {
		n          int
		verb, noun string
	}{{d.move, "move", "coordinator"}, {d.evict, "evict", "pod"}, {d.replace, "replace", "process group"}} {
		if part.n > 0 {
			parts = append(parts, part.verb+" "+phrase.Count(part.n, part.noun))
		}
	}
	if d.leave > 0 {
		parts = append(parts, "wait for "+phrase.Count(d.leave, "process group")+" that "+phrase.Either(d.leave, "is", "are")+" being removed")
	}
	return phrase.List(parts)
}

// drainChecks evaluates for each group what drain does with it: a pod without data is evicted by the
// rule of its kind, a group with a volume is replaced.
func drainChecks(l session.Observation, groups []*v1beta2.ProcessGroupStatus, in *lists.CanInput) (d drainCounts) {
	kinds := map[string]bool{}
	for _, g := range groups {
		kinds[safety.EvictionKind(l.Snapshot, g)] = true
		if safety.Coordinates(l.Snapshot, g) {
			d.move++
		}
		var checks []plan.Check
		switch {
		case g.IsMarkedForRemoval():
			d.leave++
		case operations.Evictable(l.Snapshot, g):
			d.evict++
			checks = safety.MayEvict(l.Snapshot, g)
		default:
			d.replace++
			checks = replaceChecks(l, g)
		}
		items := lists.About(string(g.ProcessGroupID), checks)
		for i := range items {
			items[i].Waits = !items[i].OK && items[i].ID == plan.CheckRecoveryAge // drain waits for it
		}
		in.Checks = append(in.Checks, items...)
	}
	for _, r := range safety.EvictionRules() {
		if kinds[r.Kind] {
			in.Notes = append(in.Notes, fmt.Sprintf("rule for %s: evicted when %s; replaced when %s", r.Kind, r.Evict, r.Replace))
		}
	}
	return d
}

// replaceChecks are the checks before drain marks a group for removal. The rules are not applied to a
// group that does not report, and one that the spec keeps is never marked.
func replaceChecks(l session.Observation, g *v1beta2.ProcessGroupStatus) []plan.Check {
	if l.Cluster.KeepsFromReplacement(g.ProcessGroupID) {
		return []plan.Check{{
			ID: plan.CheckKept, Subject: string(g.ProcessGroupID), Question: "may it be replaced?", Evidence: "it is kept by " + readings.KeepField,
		}}
	}
	if g.HasCondition(v1beta2.ConditionMissingProcesses) {
		return nil
	}
	return safety.MayReplace(l.Snapshot, g)
}
