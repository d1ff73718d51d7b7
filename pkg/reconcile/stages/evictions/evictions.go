// Package evictions holds the stages by which the eviction rules reach other clients of Kubernetes:
// whoever drains a node, and Kubernetes itself where a node is lost. A stage runs only where an
// annotation of the resource requests it.
package evictions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
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

// UpdateDisruptionBudget keeps the PodDisruptionBudget of a cluster that requests one, so that
// evictions by other clients follow the rules as well: at most one pod with data or coordination
// state at a time, and none while the database could not lose any one of them.
//
// Evictions are what a budget limits. Passes delete pods, after their own checks, so a closed
// budget delays none of them; a pod that a pass has deleted is not ready, and the budget is closed
// until it is ready again.
//
// The stage runs before pods are added and after pods are removed: the number has to be higher
// before a new pod is ready, or the new pod would make room for the eviction of two others.
var UpdateDisruptionBudget = plan.Stage{
	Name:  plan.StageUpdateDisruptionBudget,
	Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.DisruptionBudgets,
	Decide: func(s plan.Snapshot) plan.Decision {
		requested, err := plan.OptedIn(s.Cluster, plan.AnnotationDisruptionBudgets)
		switch {
		case err != nil:
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAnnotationInvalid, Manual: true, Reason: err.Error()}}
		case !requested:
			return withoutBudget(s)
		case s.DisruptionBudgetsHidden != "":
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBudgetsUnknown, Manual: true, Reason: "the PodDisruptionBudgets are unknown", Detail: s.DisruptionBudgetsHidden}}
		}
		conflicts, err := readings.ConflictingDisruptionBudgets(s)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		d, err := withBudget(s, conflicts)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		return d
	},
}

// budgetRetry is when to read again whether the budget may be opened.
const budgetRetry = 30 * time.Second

// withoutBudget deletes the budget that earlier passes kept. If budgets cannot be read, passes have created
// none.
func withoutBudget(s plan.Snapshot) plan.Decision {
	own := readings.OwnDisruptionBudget(s)
	if own == nil || own.DeletionTimestamp != nil {
		return plan.Decision{}
	}
	return plan.Decision{
		Why:     fmt.Sprintf("annotation %s does not request it any more", plan.AnnotationDisruptionBudgets),
		Actions: []plan.Action{plan.DeleteDisruptionBudget{Name: own.Name, UID: own.UID}},
	}
}

// withBudget updates the budget, or creates it unless another budget conflicts with it.
func withBudget(s plan.Snapshot, conflicts []string) (plan.Decision, error) {
	pods, err := readings.PodsInDisruptionBudget(s)
	if err != nil {
		return plan.Decision{}, err
	}
	d := plan.Decision{Checks: safety.MayLoseAnyPod(s)}
	stay := pods
	if refused, isRefused := d.Refused(); !isRefused {
		stay = max(0, pods-1)
	} else if !safety.NeverDisruptable(s) {
		d.Hold = &plan.Hold{Code: plan.HoldBudgetClosed, RetryAfter: budgetRetry, Reason: "the PodDisruptionBudget allows no eviction", Detail: refused.Evidence}
	}
	want := objects.DisruptionBudget(s.Cluster, stay)
	have := readings.OwnDisruptionBudget(s)
	switch {
	case have == nil && len(conflicts) == 0:
		d.Why = fmt.Sprintf("annotation %s requests it", plan.AnnotationDisruptionBudgets)
		d.Actions = []plan.Action{plan.ApplyDisruptionBudget{Name: want.Name, Pods: pods, MinAvailable: stay, Object: want, Create: true}}
	case have != nil:
		if merged, differs := mergedBudget(have, want); differs {
			d.Why = "it differs from the pods of the cluster and the state of the database"
			d.Actions = []plan.Action{plan.ApplyDisruptionBudget{Name: want.Name, Pods: pods, MinAvailable: stay, Object: merged}}
		}
	}
	if len(conflicts) > 0 {
		d.Hold = conflictHold(conflicts)
	}
	return d, nil
}

func mergedBudget(have, want *policyv1.PodDisruptionBudget) (merged *policyv1.PodDisruptionBudget, differs bool) {
	merged = have.DeepCopy()
	differs = readings.MergeMetadata(&merged.ObjectMeta, want.ObjectMeta)
	if !equality.Semantic.DeepEqual(have.Spec, want.Spec) {
		want.Spec.DeepCopyInto(&merged.Spec)
		differs = true
	}
	return merged, differs
}

func conflictHold(names []string) *plan.Hold {
	return &plan.Hold{
		Code: plan.HoldBudgetConflict, Subjects: names, Manual: true,
		Reason: fmt.Sprintf("PodDisruptionBudget %s selects pods of this cluster as well, and Kubernetes refuses every eviction of a pod with two; delete it, or remove annotation %s",
			strings.Join(names, ", "), plan.AnnotationDisruptionBudgets),
	}
}

// UpdateTolerations sets on the running pods of a cluster that requests it how long they wait for
// a node that is lost, by the eviction rule of their class. No pod is recreated, and no desired
// spec changes: the operator creates the very same pods. Where it is not requested any more, the
// former tolerations are restored.
var UpdateTolerations = plan.Stage{
	Name:  plan.StageUpdateTolerations,
	Reads: plan.ClusterResource | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		var pods []toleratingPod
		for _, g := range s.Groups() {
			pods = append(pods, toleratingPod{g.ProcessGroupID, s.Pod(g), func(pod *corev1.Pod) plan.Action {
				return readings.AppliedTolerations(g.ProcessGroupID, pod, s.Cluster.Settings(g.ProcessClass).PodTemplate, safety.TolerationsFor(s.Cluster, g.ProcessClass))
			}})
		}
		return decideTolerations(s.Cluster, pods, "the times of the eviction rules")
	},
}

// toleratingPod is a pod of a process group, or of none, and the action that sets the tolerations of its
// eviction rule.
type toleratingPod struct {
	group v1beta2.ProcessGroupID
	pod   *corev1.Pod
	apply func(*corev1.Pod) plan.Action
}

// decideTolerations applies the tolerations to the pods of a resource that requests it, and else
// reverts them.
func decideTolerations(resource metav1.Object, pods []toleratingPod, what string) plan.Decision {
	requested, err := plan.OptedIn(resource, plan.AnnotationTolerations)
	if err != nil {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAnnotationInvalid, Manual: true, Reason: err.Error()}}
	}
	var actions []plan.Action
	for _, p := range pods {
		if !readings.MayChangeTolerations(p.pod) {
			continue
		}
		a := readings.RevertedTolerations(p.group, p.pod)
		if requested {
			a = p.apply(p.pod)
		}
		if a != nil {
			actions = append(actions, a)
		}
	}
	switch {
	case len(actions) == 0:
		return plan.Decision{}
	case requested:
		return plan.Decision{Actions: actions, Why: fmt.Sprintf("annotation %s requests %s", plan.AnnotationTolerations, what)}
	default:
		return plan.Decision{Actions: actions, Why: fmt.Sprintf("annotation %s does not request other times any more", plan.AnnotationTolerations)}
	}
}
