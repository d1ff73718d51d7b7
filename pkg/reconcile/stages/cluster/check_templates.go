package cluster

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// CheckTemplates returns a stage that ends a pass over a cluster with a pod template that the restrictions of
// the run forbid. It is the first one, before anything is written: who may change a FoundationDBCluster would
// otherwise have pods with rights that only the run has.
func CheckTemplates(r objects.TemplateRestrictions) plan.Stage {
	return plan.Stage{
		Name:  plan.StageCheckTemplates,
		Reads: plan.ClusterResource,
		Decide: func(s plan.Snapshot) plan.Decision {
			forbidden, err := r.OfCluster(s.Cluster)
			if err != nil {
				d := readings.InvalidSpec(err)
				d.Hold.Then = plan.EndPass
				return d
			}
			return readings.TemplatesAllowed(forbidden)
		},
	}
}
