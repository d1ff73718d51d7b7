package cluster

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// CheckDistribution ends the pass where spec.distributionConfig has too few fault domains for
// coordinators and replicas: later stages would create and replace pods for it. It does not where
// the pods are packed so already, nor where a user overrides the gate. It also ends the pass where
// the API server dropped the field and pods are packed: later stages would recreate all of them.
var CheckDistribution = plan.Stage{
	Name:  plan.StageCheckDistribution,
	Reads: plan.ClusterResource | plan.Pods,
	Decide: func(s plan.Snapshot) plan.Decision {
		if !distribution.Of(s.Cluster).Enabled() {
			return keepsDropped(s)
		}
		check := safety.DistributionHolds(s.Cluster)
		if !check.OK && readings.DistributionInForce(s) {
			check.OK, check.Evidence = true, check.Evidence+"; the pods are packed so already"
		}
		if why := s.Overrides[plan.GateConfig]; !check.OK && why != "" {
			check.OK, check.Evidence = true, check.Evidence+"; overridden: "+why
		}
		d := plan.Decision{Checks: []plan.Check{check}}
		if !check.OK {
			d.Hold = &plan.Hold{
				Code: plan.HoldDistributionRefused, Manual: true, Then: plan.EndPass,
				Reason: "nothing is created or replaced for spec.distributionConfig: raise desiredFaultDomains, disable it, or override " + string(plan.GateConfig),
				Detail: check.Evidence,
			}
		}
		return d
	},
}

// keepsDropped refuses a pass without packing where the API server dropped the field and pods are
// packed.
func keepsDropped(s plan.Snapshot) plan.Decision {
	if !slices.Contains(s.Cluster.DroppedFields(), v1beta2.ExtensionDistributionConfig) {
		return plan.Decision{}
	}
	packed := 0
	for _, g := range s.Remaining() {
		if pod := s.Pod(g); pod != nil && objects.DistributionKeyOf(pod) != "" {
			packed++
		}
	}
	if packed == 0 {
		return plan.Decision{}
	}
	return plan.Decision{Hold: &plan.Hold{
		Code: plan.HoldDistributionRefused, Manual: true, Then: plan.EndPass,
		Reason: fmt.Sprintf("%s %s a distribution key, and the API server dropped %s: they would all be recreated without it", phrase.Count(packed, "pod"), phrase.Has(packed), v1beta2.ExtensionDistributionConfig),
	}}
}
