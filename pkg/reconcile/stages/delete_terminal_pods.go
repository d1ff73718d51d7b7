package stages

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deleteTerminalPods deletes pods that have ended and never restart, such as evicted ones, so
// that they are recreated. No process of theirs could be lost. A pod that ends right after
// its creation is kept for a moment, or it would be created and deleted continuously.
var deleteTerminalPods = plan.Stage{
	Name:  plan.StageDeleteTerminalPods,
	Reads: plan.Record | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		var ended []plan.PodOfGroup
		var young []string
		var wait time.Duration
		for _, g := range s.Groups() {
			pod := deletablePod(s, g)
			if pod == nil || !hasEnded(pod) {
				continue
			}
			left := minTerminalPodAge - s.Now.Sub(pod.CreationTimestamp.Time)
			if left > 0 {
				young, wait = append(young, pod.Name), max(wait, left)
				continue
			}
			ended = append(ended, thisPod(g, pod))
		}
		var d plan.Decision
		if len(ended) > 0 {
			d.Why = "pods that have ended never restart"
			d.Actions = []plan.Action{plan.DeletePods{Pods: ended}}
		}
		if len(young) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldPodEndedEarly, Reason: fmt.Sprintf("%s ended less than %s after creation", someOf(young), minTerminalPodAge), RetryAfter: wait}
		}
		return d
	},
}

// minTerminalPodAge is the minimum age of an ended pod before it is deleted.
// Default 30 s; source: the operator's flag minimum-age-for-terminal-pod-deletion.
const minTerminalPodAge = 30 * time.Second

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}
