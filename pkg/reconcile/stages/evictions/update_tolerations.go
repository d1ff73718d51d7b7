package evictions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

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
