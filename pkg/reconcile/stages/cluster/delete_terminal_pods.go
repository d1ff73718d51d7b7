package cluster

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// DeleteTerminalPods deletes pods that have ended and never restart, such as evicted ones, so
// that they are recreated. No process of theirs could be lost. A pod that ends right after
// its creation is kept for a moment, or it would be created and deleted continuously.
// One whose PVC is being deleted is kept: the volume stays as long as the pod exists.
var DeleteTerminalPods = plan.Stage{
	Name:  plan.StageDeleteTerminalPods,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var ended []plan.PodOfGroup
		var young []string
		var keep readings.VolumesGoing
		var wait time.Duration
		for _, g := range s.Groups() {
			pod := readings.DeletablePod(s, g)
			if pod == nil || !readings.HasEnded(pod) {
				continue
			}
			left := readings.MinTerminalPodAge - s.Now.Sub(pod.CreationTimestamp.Time)
			if left > 0 {
				young, wait = append(young, pod.Name), max(wait, left)
				continue
			}
			if !keep.Keeps(s, g) {
				ended = append(ended, readings.ThisPod(g, pod))
			}
		}
		var d plan.Decision
		if len(ended) > 0 {
			d.Why = "pods that have ended never restart"
			d.Actions = []plan.Action{plan.DeletePods{Pods: ended}}
		}
		if len(young) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldPodEndedEarly, Reason: fmt.Sprintf("%s ended less than %s after creation", readings.SomeOf(young), readings.MinTerminalPodAge), RetryAfter: wait}
		}
		d.Hold = keep.HoldBefore(d.Hold)
		return d
	},
}
