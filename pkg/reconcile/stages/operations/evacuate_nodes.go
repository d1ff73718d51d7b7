package operations

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
)

// CordonNodes returns a stage that cordons nodes, and taints them where a taint is given. A
// deleted node needs none of that; a new one of the same name is cordoned when it exists. The
// action is one that moves data if the spec has process groups replaced for the taint.
func CordonNodes(nodes []string, taint *corev1.Taint) plan.Stage {
	return nodeStage(plan.StageCordonNodes, "cordon requested by a user", nodes, func(s plan.Snapshot, name string) (plan.Action, error) {
		n := s.Nodes[name]
		evacuates := taint != nil && safety.ReplacedForTaint(s.Cluster, taint.Key)
		if a := (plan.CordonNode{Node: name, Taint: taint, Evacuates: evacuates}); n != nil && !a.Done(n) {
			return a, nil
		}
		return nil, nil
	})
}

// UncordonNodes returns a stage that uncordons nodes, and removes the taints that CordonNodes
// set and the given one.
func UncordonNodes(nodes []string, taint *corev1.Taint) plan.Stage {
	return nodeStage(plan.StageUncordonNodes, "uncordon requested by a user", nodes, func(s plan.Snapshot, name string) (plan.Action, error) {
		n := s.Nodes[name]
		if n == nil {
			return nil, fmt.Errorf("node %s not found", name)
		}
		if a := (plan.UncordonNode{Node: name, Taint: taint, OfCordon: plan.TaintsOfCordon(n)}); !a.Done(n) {
			return a, nil
		}
		return nil, nil
	})
}

// nodeStage returns a stage with the action that todo returns for each node; a nil action is nothing, and an error ends the pass.
func nodeStage(name plan.StageName, why string, nodes []string, todo func(plan.Snapshot, string) (plan.Action, error)) plan.Stage {
	return plan.Stage{
		Name: name, Reads: plan.ClusterResource | plan.Nodes,
		Decide: func(s plan.Snapshot) plan.Decision {
			if s.NodesHidden != "" || s.Nodes == nil {
				return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNodesUnknown, Manual: true, Reason: "nodes are unknown: " + nodesUnknown(s), Then: plan.EndPass}}
			}
			var d plan.Decision
			for _, node := range nodes {
				a, err := todo(s, node)
				if err != nil {
					return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNodesUnknown, Manual: true, Reason: err.Error(), Then: plan.EndPass}}
				}
				if a != nil {
					d.Why, d.Actions = why, append(d.Actions, a)
				}
			}
			return d
		},
	}
}

// nodesUnknown returns why the nodes are unknown. Nodes that were not read are not deleted.
func nodesUnknown(s plan.Snapshot) string {
	if s.NodesHidden != "" {
		return s.NodesHidden
	}
	return "they were not read"
}

// EvictFrom returns a stage that deletes pods without a volume from nodes, one per pass, as
// the eviction rules allow. AddPods recreates them on another node, so these must be cordoned. A pod stays
// that the API server would not accept again.
func EvictFrom(nodes []string) plan.Stage {
	return cluster.WithRecreation(plan.Stage{
		Name:  plan.StageEvictFrom,
		Reads: plan.ClusterResource | plan.Nodes | plan.Pods | plan.Volumes | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			var d plan.Decision
			var left readings.Waits
			first := excludedFirst(s, nodes)
			for _, g := range groupsOn(s, nodes) {
				if !Evictable(s, g) {
					continue // a group with a volume is replaced: the volume may be bound to the node
				}
				if readings.DeletablePod(s, g) == nil {
					left.Add(g.ProcessGroupID, "%s: a user isolated its pod, or the pod's labels name another process group", g.ProcessGroupID)
					continue
				}
				if first != "" {
					left.Add(g.ProcessGroupID, "%s: %s", g.ProcessGroupID, first)
					continue
				}
				if away := recreating(s, g.ProcessClass); away != "" {
					left.Add(g.ProcessGroupID, "%s: %s of its class does not report yet", g.ProcessGroupID, away)
					continue
				}
				checks := cordonedFirst(s, g, safety.MayEvict(s, g))
				refused, isRefused := plan.Decision{Checks: checks}.Refused()
				switch {
				case isRefused:
					d.Checks = append(d.Checks, refused)
					left.Add(g.ProcessGroupID, "%s: %s", g.ProcessGroupID, refused.Evidence)
				case len(d.Actions) > 0:
					left.Add(g.ProcessGroupID, "%s: one pod at a time", g.ProcessGroupID)
				default:
					d.Why, d.Checks, d.Actions = "their node is being drained", append(d.Checks, checks...), []plan.Action{evictionOf(s, g)}
				}
			}
			d.Hold = left.Hold(plan.HoldEvictionsRemain, "pods remain on the drained nodes: ", cluster.PodUpdateRetry)
			return d
		},
	})
}

// exclusionGracePeriod is how long evictions wait for the exclusion of a marked group on the
// same nodes. Chosen here: a replacement that is blocked must not keep all other pods there.
const exclusionGracePeriod = 10 * time.Minute

// excludedFirst describes a group on the nodes that has to be excluded, or to lose its
// coordinator, before pods are evicted; empty for none. An eviction can cause a recovery,
// after which both wait for minutes.
func excludedFirst(s plan.Snapshot, nodes []string) string {
	for _, g := range s.Groups() {
		pod := s.Pod(g)
		if !g.IsMarkedForRemoval() || pod == nil || !slices.Contains(nodes, pod.Spec.NodeName) || s.Now.Sub(g.RemovalTimestamp.Time) >= exclusionGracePeriod {
			continue
		}
		switch {
		case safety.Coordinates(s, g):
			return fmt.Sprintf("coordinators move away from %s first", g.ProcessGroupID)
		case !g.ExclusionSkipped && !g.IsExcluded() && !safety.Excluded(s, g):
			return fmt.Sprintf("%s is excluded first", g.ProcessGroupID)
		}
	}
	return ""
}

// Evictable reports whether a pod may be recreated elsewhere because its group holds no data.
// An unknown or empty class may hold data.
func Evictable(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return !g.ProcessClass.IsStateful() && safety.HoldsNothing(s, g)
}

// recreating returns a group of a class that stays and has no pod, or none that reports: the
// pods evicted before have to report first.
func recreating(s plan.Snapshot, class v1beta2.ProcessClass) string {
	for _, g := range s.Remaining() {
		if g.ProcessClass == class && (g.HasCondition(v1beta2.ConditionMissingPod) || g.HasCondition(v1beta2.ConditionPodPending) || g.HasCondition(v1beta2.ConditionMissingProcesses)) {
			return string(g.ProcessGroupID)
		}
	}
	return ""
}

// cordonedFirst adds the check that the pod cannot be scheduled to its node again.
func cordonedFirst(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, checks []plan.Check) []plan.Check {
	return append([]plan.Check{nodeCordoned(s, s.Pod(g).Spec.NodeName)}, checks...)
}

func evictionOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Action {
	pod := s.Pod(g)
	return plan.DeletePods{Shared: true, Pods: []plan.PodOfGroup{{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID}}}
}

// groupsOn returns the groups that stay, and whose pods run on one of the nodes.
func groupsOn(s plan.Snapshot, nodes []string) []*v1beta2.ProcessGroupStatus {
	var groups []*v1beta2.ProcessGroupStatus
	for _, g := range s.Remaining() {
		if pod := s.Pod(g); pod != nil && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil && slices.Contains(nodes, pod.Spec.NodeName) {
			groups = append(groups, g)
		}
	}
	return groups
}

// ReplaceOn returns a stage that marks the process groups on nodes that have a volume, as
// ReplaceGroups does, where the eviction rules allow it. These are not applied to a group that
// does not report.
func ReplaceOn(nodes []string, most int) plan.Stage {
	return replaceOn(nodes, most, func(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool { return !Evictable(s, g) })
}

// ReplaceAllOn returns a stage that does the same with groups without a volume as well.
func ReplaceAllOn(nodes []string, most int) plan.Stage {
	return replaceOn(nodes, most, func(plan.Snapshot, *v1beta2.ProcessGroupStatus) bool { return true })
}

func replaceOn(nodes []string, most int, concerns func(plan.Snapshot, *v1beta2.ProcessGroupStatus) bool) plan.Stage {
	return replacements.WithSuccessors(plan.Stage{
		Name:  plan.StageReplaceGroups,
		Reads: plan.ClusterResource | plan.Nodes | plan.Pods | plan.Volumes | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			var may []v1beta2.ProcessGroupID
			var refusals []plan.Check
			var left readings.Waits
			for _, g := range groupsOn(s, nodes) {
				if !concerns(s, g) {
					continue
				}
				refused, isRefused := plan.Decision{Checks: safety.MayReplace(s, g)}.Refused()
				if isRefused && !g.HasCondition(v1beta2.ConditionMissingProcesses) {
					refusals = append(refusals, refused)
					left.Add(g.ProcessGroupID, "%s: %s", g.ProcessGroupID, refused.Evidence)
					continue
				}
				may = append(may, g.ProcessGroupID)
			}
			d := Replacement{Groups: may, Max: most}.stage().Decide(s)
			d.Checks = append(d.Checks, refusals...)
			if d.Hold == nil {
				d.Hold = left.Hold(plan.HoldReplacementsRemain, "not replaceable now: ", cluster.PodUpdateRetry)
			}
			return d
		},
	})
}

// EvictAgents returns a stage that deletes pods of backup agents from nodes, one of each
// Deployment per pass. They may always be evicted; the next one of a Deployment waits until the
// pods created before are ready, so that a backup keeps running. Their Deployment recreates them on
// another node, so these must be cordoned.
func EvictAgents(nodes []string) plan.Stage {
	return plan.Stage{
		Name:  plan.StageEvictAgents,
		Reads: plan.ClusterResource | plan.Nodes | plan.Agents,
		Decide: func(s plan.Snapshot) plan.Decision {
			var d plan.Decision
			var left readings.Waits
			evicted := map[string]bool{}
			for _, pod := range readings.AgentsOn(s, nodes) {
				deployment := pod.Labels[v1beta2.LabelDeploymentName]
				if starting := startingAgent(s, pod); starting != "" {
					left.Add(v1beta2.ProcessGroupID(pod.Name), "%s: agent %s of its Deployment is not ready yet", pod.Name, starting)
					continue
				}
				checks := append([]plan.Check{nodeCordoned(s, pod.Spec.NodeName)}, safety.MayEvictAgent()...)
				refused, isRefused := plan.Decision{Checks: checks}.Refused()
				switch {
				case isRefused:
					d.Checks = append(d.Checks, refused)
					left.Add(v1beta2.ProcessGroupID(pod.Name), "%s: %s", pod.Name, refused.Evidence)
				case evicted[deployment]:
					left.Add(v1beta2.ProcessGroupID(pod.Name), "%s: one pod of a Deployment at a time", pod.Name)
				default:
					evicted[deployment] = true
					d.Why, d.Checks = "their node is drained", append(d.Checks, checks...)
					d.Actions = append(d.Actions, plan.EvictAgent{Name: pod.Name, UID: pod.UID, Deployment: deployment})
				}
			}
			d.Hold = left.Hold(plan.HoldEvictionsRemain, "pods of backup agents remain on the drained nodes: ", cluster.PodUpdateRetry)
			return d
		},
	}
}

// startingAgent returns another pod of the same Deployment that was created lately and is not
// ready; empty for none. It does not protect a pod that is not ready itself, and one that never
// gets ready, for want of a node, delays the others only for a while.
func startingAgent(s plan.Snapshot, of *corev1.Pod) string {
	if !isReady(of) {
		return ""
	}
	first := ""
	for name, pod := range s.Agents.Pods {
		if pod == of || pod.Labels[v1beta2.LabelDeploymentName] != of.Labels[v1beta2.LabelDeploymentName] || !readings.MayChangeTolerations(pod) {
			continue
		}
		if !isReady(pod) && s.Now.Sub(pod.CreationTimestamp.Time) < exclusionGracePeriod && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// nodeCordoned checks that a deleted pod cannot be scheduled to its node again.
func nodeCordoned(s plan.Snapshot, name string) plan.Check {
	c := plan.Check{ID: plan.CheckNodeCordoned, Subject: name, Question: fmt.Sprintf("is node %s closed to new pods?", name), Gate: plan.GateConfig, OK: true, Evidence: "it is cordoned"}
	node := s.Nodes[name]
	switch {
	case s.NodesHidden != "", s.Nodes == nil:
		c.OK, c.Evidence = false, "unknown: "+nodesUnknown(s)
	case node == nil:
		c.Evidence = "it does not exist any more"
	case !node.Spec.Unschedulable:
		c.OK, c.Evidence = false, "it is not cordoned, so the pod could be scheduled there again"
	}
	return c
}
