package evictions

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// UpdateAgentTolerations sets on the pods of agents how long they wait for a node that is lost, where
// the resource requests it, and reverts it where it does not any more. The Deployment stays as the
// operator creates it, so the next pass sets the times on pods that it creates later.
var UpdateAgentTolerations = plan.Stage{
	Name:  plan.StageUpdateTolerations,
	Reads: plan.Backup | plan.Agents,
	Decide: func(s plan.Snapshot) plan.Decision {
		var pods []toleratingPod
		for _, name := range slices.Sorted(maps.Keys(s.Agents.Pods)) {
			if pod := s.Agents.Pods[name]; ownAgent(s.Backup, pod) {
				pods = append(pods, toleratingPod{"", pod, func(pod *corev1.Pod) plan.Action {
					return readings.AppliedTolerations("", pod, s.Backup.Spec.PodTemplateSpec, safety.TolerationsForAgents())
				}})
			}
		}
		return decideTolerations(s.Backup, pods, "the time of the eviction rule")
	},
}

// ownAgent reports whether a pod is one of the backup's own agents.
func ownAgent(b *v1beta2.FoundationDBBackup, pod *corev1.Pod) bool {
	return pod.Labels[v1beta2.LabelDeploymentName] == b.DeploymentName()
}
