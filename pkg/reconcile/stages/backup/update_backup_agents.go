package backup

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// updateBackupAgents reconciles the Deployment of the agents. Other labels and annotations on it
// stay; because of them the operator rewrites the Deployment in every pass. A number of agents
// that was changed manually is reverted. A resource that is being deleted needs agents until its
// deletion policy is carried out.
var updateBackupAgents = plan.Stage{
	Name:  plan.StageUpdateBackupAgents,
	Reads: plan.Backup | plan.Agents,
	Decide: func(s plan.Snapshot) plan.Decision {
		have := s.Agents.Deployment
		carriesOut := slices.Contains(s.Backup.Finalizers, v1beta2.FinalizerBackup)
		if s.Backup.DeletionTimestamp != nil && (have != nil || !carriesOut) {
			return plan.Decision{} // existing agents carry out the deletion policy as they are
		}
		want, err := objects.AgentDeployment(s.Backup)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		switch {
		case have == nil && want == nil:
			return plan.Decision{}
		case have == nil:
			return plan.Decision{
				Why: "the Deployment of the agents does not exist", Actions: []plan.Action{plan.ApplyAgents{Name: want.Name, Create: true, Object: want}},
				Hold: agentsHold("no agent runs yet"),
			}
		case !metav1.IsControlledBy(have, s.Backup):
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAgentsNotOwned, Manual: true, Reason: fmt.Sprintf(
				"Deployment %s exists and does not belong to this backup; delete or rename it", have.Name)}}
		case want == nil:
			return plan.Decision{Why: "spec.agentCount is 0", Actions: []plan.Action{plan.DeleteAgents{Name: have.Name, UID: have.UID}}}
		case !agentsMatch(have, want):
			return plan.Decision{
				Why:     "the Deployment of the agents differs from the spec",
				Actions: []plan.Action{plan.ApplyAgents{Name: have.Name, Object: updatedAgents(have, want)}},
				Hold:    agentsHold("the agents restart"),
			}
		}
		return unreadyAgents(s, have)
	},
}

func agentsHold(reason string) *plan.Hold {
	return &plan.Hold{Code: plan.HoldAgentsStarting, Reason: reason, RetryAfter: backupDelay}
}

// updatedAgents returns the existing Deployment with the desired spec and metadata.
func updatedAgents(have, want *appsv1.Deployment) *appsv1.Deployment {
	updated := have.DeepCopy()
	want.Spec.DeepCopyInto(&updated.Spec)
	readings.MergeMetadata(&updated.ObjectMeta, want.ObjectMeta)
	return updated
}

// agentsMatch reports whether a Deployment matches the spec, whatever its pods do.
func agentsMatch(have, want *appsv1.Deployment) bool {
	return objects.ContainsMetadata(have.ObjectMeta, want.ObjectMeta) && ptr.Deref(have.Spec.Replicas, 1) == *want.Spec.Replicas
}

// agentsConfigured reports whether the Deployment matches and Kubernetes has observed it.
func agentsConfigured(s plan.Snapshot, want *appsv1.Deployment) bool {
	have := s.Agents.Deployment
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	return agentsMatch(have, want) && have.Status.ObservedGeneration == have.Generation
}

// unreadyAgents deletes pods of agents that have ended, and waits for the others.
func unreadyAgents(s plan.Snapshot, have *appsv1.Deployment) plan.Decision {
	var d plan.Decision
	ready, desired := have.Status.ReadyReplicas, ptr.Deref(have.Spec.Replicas, 1)
	if ready >= desired {
		return d
	}
	d.Hold = agentsHold(phrase.CountOf(ready, desired, "agent") + " ready")
	for _, name := range slices.Sorted(maps.Keys(s.Agents.Pods)) {
		pod := s.Agents.Pods[name]
		if readings.HasEnded(pod) && ownAgent(s.Backup, pod) && s.Now.Sub(pod.CreationTimestamp.Time) >= readings.MinTerminalPodAge {
			d.Why = "pods that have ended never restart"
			d.Actions = append(d.Actions, plan.DeleteAgentPod{Name: name, UID: pod.UID})
		}
	}
	return d
}

// ownAgent reports whether a pod is one of the backup's own agents.
func ownAgent(b *v1beta2.FoundationDBBackup, pod *corev1.Pod) bool {
	return pod.Labels[v1beta2.LabelDeploymentName] == b.DeploymentName()
}
