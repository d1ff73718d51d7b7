package stages

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deletePodsForBuggification deletes pods that were created with other faults than the spec
// has now: containers that crash on purpose, and pods that cannot be scheduled. No check of
// the database is made before, since disturbing it is the purpose of the faults.
//
// The operator checks per pod whether any container crashes, and so keeps a pod whose fault
// moves from one container to another; here each container is compared.
var deletePodsForBuggification = plan.Stage{
	Name:  plan.StageDeletePodsForBuggification,
	Reads: plan.Record | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		var pods []plan.PodOfGroup
		for _, g := range s.Groups() {
			if pod := deletablePod(s, g); pod != nil && hasOtherFaults(s.Cluster, g, pod) {
				pods = append(pods, thisPod(g, pod))
			}
		}
		if len(pods) == 0 {
			return plan.Decision{}
		}
		return plan.Decision{
			Why:     "created with other faults than spec.buggify has now",
			Actions: []plan.Action{plan.DeletePods{Pods: pods}},
			Hold:    &plan.Hold{Code: plan.HoldPodsRecreated, Reason: "deleted pods are recreated by the next pass", RetryAfter: podDelay, Then: plan.EndPass},
		}
	},
}

// hasOtherFaults compares the faults of a pod with those of the one that would replace it. A
// fault that comes from the pod template is in both, so that no pod is deleted repeatedly.
func hasOtherFaults(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) bool {
	have := objects.Faults(&pod.Spec)
	asked := crashesOnPurpose(c, g) || allCrashOnPurpose(c) || slices.Contains(c.Spec.Buggify.NoSchedule, g.ProcessGroupID)
	if len(have) == 0 && !asked {
		return false // spares building the specs of all pods of a cluster without faults
	}
	want, err := objects.PodSpec(c, g)
	return err == nil && !slices.Equal(have, objects.Faults(want))
}
