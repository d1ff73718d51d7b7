package operations

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

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
