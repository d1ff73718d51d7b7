package cluster

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CheckDeletion ends a pass over a FoundationDBCluster that is being deleted, or whose namespace is:
// Kubernetes deletes all of its objects as soon as the last finalizer is removed, so nothing that a pass
// creates lasts, and data that it moves is lost with the rest. Passes of other commands end at the gate
// of the same name.
//
// The operator reconciles such a cluster as any other.
var CheckDeletion = plan.Stage{
	Name:  plan.StageCheckDeletion,
	Reads: plan.ClusterResource | plan.Namespace,
	Decide: func(s plan.Snapshot) plan.Decision {
		c := safety.NotDeleted(s)
		if c.OK {
			return plan.Decision{Checks: []plan.Check{c}}
		}
		return plan.Decision{Checks: []plan.Check{c}, Hold: &plan.Hold{Code: plan.HoldBeingDeleted, Manual: true, Reason: c.Evidence, Then: plan.EndPass}}
	},
}
