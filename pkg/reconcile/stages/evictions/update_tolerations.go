package evictions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// UpdateTolerations sets on the running pods of a cluster that requests it how long they wait for
// a node that is lost, by the eviction rule of their class. No pod is recreated, and no desired
// spec changes: the operator creates the very same pods. Where it is not requested any more, pods
// get back what they had.
var UpdateTolerations = plan.Stage{
	Name:  plan.StageUpdateTolerations,
	Reads: plan.Record | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		requested, err := plan.OptedIn(s.Cluster, plan.AnnotationTolerations)
		if err != nil {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldAnnotationInvalid, Human: true, Reason: err.Error()}}
		}
		var d plan.Decision
		for _, g := range s.Groups() {
			pod := s.Pod(g)
			if !readings.MayChangeTolerations(pod) {
				continue
			}
			a := readings.RevertedTolerations(g.ProcessGroupID, pod)
			if requested {
				a = classTolerations(s, g, pod)
			}
			if a != nil {
				d.Actions = append(d.Actions, a)
			}
		}
		if len(d.Actions) > 0 {
			d.Why = fmt.Sprintf("annotation %s requests the times of the eviction rules", plan.AnnotationTolerations)
			if !requested {
				d.Why = fmt.Sprintf("annotation %s does not request other times any more", plan.AnnotationTolerations)
			}
		}
		return d
	},
}

func classTolerations(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) plan.Action {
	return readings.AppliedTolerations(g.ProcessGroupID, pod, s.Cluster.Settings(g.ProcessClass).PodTemplate, safety.TolerationsFor(s.Cluster, g.ProcessClass))
}
