package stages

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
)

// updateBackupAgents keeps the deployment of the agents. Labels and annotations that
// others put on it stay; the operator writes the deployment anew in every pass because of
// them. A number of agents that somebody changed by hand is set back. A record that is being
// deleted needs agents as long as its deletion policy is not carried out.
var updateBackupAgents = plan.Stage{
	Name:  plan.StageUpdateBackupAgents,
	Reads: plan.Backup | plan.Agents,
	Decide: func(s plan.Snapshot) plan.Decision {
		have := s.Agents.Deployment
		carriesOut := slices.Contains(s.Backup.Finalizers, v1beta2.FinalizerBackup)
		if s.Backup.DeletionTimestamp != nil && (have != nil || !carriesOut) {
			return plan.Decision{} // agents that are there carry the deletion policy out as they are
		}
		want, err := objects.AgentDeployment(s.Backup)
		if err != nil {
			return contradiction(err)
		}
		switch {
		case have == nil && want == nil:
			return plan.Decision{}
		case have == nil:
			return plan.Decision{
				Why: "there is none", Actions: []plan.Action{plan.ApplyAgents{Name: want.Name, Create: true, Object: want}},
				Hold: agentsHold("no agent runs yet"),
			}
		case !metav1.IsControlledBy(have, s.Backup):
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAgentsNotOwned, Human: true, Reason: fmt.Sprintf(
				"Deployment %s is there and does not belong to this backup; delete or rename it", have.Name)}}
		case want == nil:
			return plan.Decision{Why: "spec.agentCount is 0", Actions: []plan.Action{plan.DeleteAgents{Name: have.Name, UID: have.UID}}}
		case !agentsAsWanted(have, want):
			return plan.Decision{
				Why:     "it differs from what the spec asks for",
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

// updatedAgents is the deployment that is there with what is wanted of it.
func updatedAgents(have, want *appsv1.Deployment) *appsv1.Deployment {
	updated := have.DeepCopy()
	want.Spec.DeepCopyInto(&updated.Spec)
	mergeMetadata(&updated.ObjectMeta, want.ObjectMeta)
	return updated
}

// agentsAsWanted reports whether a deployment is as it should be, whatever its pods do.
func agentsAsWanted(have, want *appsv1.Deployment) bool {
	return objects.ContainsMetadata(have.ObjectMeta, want.ObjectMeta) && ptr.Deref(have.Spec.Replicas, 1) == *want.Spec.Replicas
}

// agentsConfigured reports whether the deployment is as wanted and Kubernetes has seen it.
func agentsConfigured(s plan.Snapshot, want *appsv1.Deployment) bool {
	have := s.Agents.Deployment
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	return agentsAsWanted(have, want) && have.Status.ObservedGeneration == have.Generation
}

// unreadyAgents deletes pods of agents that have ended for good, and waits for the others.
func unreadyAgents(s plan.Snapshot, have *appsv1.Deployment) plan.Decision {
	var d plan.Decision
	ready, wanted := have.Status.ReadyReplicas, ptr.Deref(have.Spec.Replicas, 1)
	if ready >= wanted {
		return d
	}
	d.Hold = agentsHold(phrase.CountOf(ready, wanted, "agent") + " ready")
	for _, name := range slices.Sorted(maps.Keys(s.Agents.Pods)) {
		pod := s.Agents.Pods[name]
		if hasEnded(pod) && ownAgent(s.Backup, pod) && s.Now.Sub(pod.CreationTimestamp.Time) >= minTerminalPodAge {
			d.Why = "they have ended and never start again"
			d.Actions = append(d.Actions, plan.DeleteAgentPod{Name: name, UID: pod.UID})
		}
	}
	return d
}

// ownAgent reports whether a pod is one of the backup's own agents.
func ownAgent(b *v1beta2.FoundationDBBackup, pod *corev1.Pod) bool {
	return pod.Labels[v1beta2.LabelDeploymentName] == b.DeploymentName()
}
