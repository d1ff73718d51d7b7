package cluster

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// DeletePodsForBuggification deletes pods that were created with other faults than the spec
// has now: containers that crash on purpose, and pods that cannot be scheduled. No check of
// the database is made before, since disturbing it is the purpose of the faults; losing a volume is not.
//
// The operator checks per pod whether any container crashes, and so keeps a pod whose fault
// moves from one container to another; here each container is compared.
var DeletePodsForBuggification = WithRecreation(plan.Stage{
	Name:  plan.StageDeletePodsForBuggification,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var pods []plan.PodOfGroup
		var keep readings.VolumesGoing
		for _, g := range s.Groups() {
			if pod := readings.DeletablePod(s, g); pod != nil && readings.HasOtherFaults(s.Cluster, g, pod) && !keep.Keeps(s, g) {
				pods = append(pods, readings.ThisPod(g, pod))
			}
		}
		if len(pods) == 0 {
			return plan.Decision{Hold: keep.Hold()}
		}
		return plan.Decision{
			Why:     "created with other faults than spec.buggify has now",
			Actions: []plan.Action{plan.DeletePods{Pods: pods}},
			Hold:    &plan.Hold{Code: plan.HoldPodsRecreated, Reason: "deleted pods are recreated by the next pass", RetryAfter: plan.PodDelay, Then: plan.EndPass},
		}
	},
})
