package evictions

import (
	"fmt"
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
// operator creates it, so pods that it creates later get the times from the next pass.
var UpdateAgentTolerations = plan.Stage{
	Name:  plan.StageUpdateTolerations,
	Reads: plan.Backup | plan.Agents,
	Decide: func(s plan.Snapshot) plan.Decision {
		requested, err := plan.OptedIn(s.Backup, plan.AnnotationTolerations)
		if err != nil {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAnnotationInvalid, Human: true, Reason: err.Error()}}
		}
		var d plan.Decision
		for _, name := range slices.Sorted(maps.Keys(s.Agents.Pods)) {
			pod := s.Agents.Pods[name]
			if !ownAgent(s.Backup, pod) || !readings.MayChangeTolerations(pod) {
				continue
			}
			a := readings.RevertedTolerations("", pod)
			d.Why = fmt.Sprintf("annotation %s does not request other times any more", plan.AnnotationTolerations)
			if requested {
				a = readings.AppliedTolerations("", pod, s.Backup.Spec.PodTemplateSpec, safety.TolerationsForAgents())
				d.Why = fmt.Sprintf("annotation %s requests the time of the eviction rule", plan.AnnotationTolerations)
			}
			if a != nil {
				d.Actions = append(d.Actions, a)
			}
		}
		if len(d.Actions) == 0 {
			return plan.Decision{}
		}
		return d
	},
}

// ownAgent reports whether a pod is one of the backup's own agents.
func ownAgent(b *v1beta2.FoundationDBBackup, pod *corev1.Pod) bool {
	return pod.Labels[v1beta2.LabelDeploymentName] == b.DeploymentName()
}
